//! Spanish.

language! {
    "es", Latin, first,
    "override": "ignora, ignore, ignorad, ignoren, olvida, olvide, olviden, olvidate, omite, omita, descarta, \
        descarte, desestima, anula, no sigas, no siga, haz caso omiso, haga caso omiso, pasa por \
        alto, no hagas caso, no tengas en cuenta",
    "instructions": "instruccion*, directri*, directiv*, reglas, indicacion*, ordenes, prompt, restriccion*, \
        pagina web",
    "before": "anterior*, lo anterior, todo lo, previas, previos, lo que te, lo que se te",
    "system_note": "nota del sistema, nota de sistema, mensaje del sistema, instruccion del sistema, aviso del \
        sistema, nuevas instrucciones, nueva instruccion, nueva tarea",
    "to_machine": "al asistente de ia, al asistente, para el asistente, como asistente de ia, como modelo de \
        lenguaje, como ia, ahora eres, a partir de ahora eres, eres ahora, se te ha instruido, nota \
        para la ia, querido asistente",
    "in_answer": "en tu respuesta, al final de tu respuesta, al principio de tu respuesta, al final de \
        cualquier respuesta, al final de cada respuesta, en cada respuesta, en su resumen, \
        imprimelos en el resumen, responde solo, responde unicamente, responda solo, responda \
        unicamente, responde con, sin avisar al usuario, no le digas al usuario, no informes al \
        usuario",
    "reveal": "revela, revele, muestra, muestre, muestrame, dime, imprime, repite, divulga, ensename, \
        recupera",
    "secret": "tus instrucciones, sus instrucciones, tu prompt, prompt del sistema, tus reglas, tu mensaje \
        de sistema, contrasenas, datos de los empleados, datos de los clientes",
    "send": "envia, envie, enviad, envialos, enviala, enviale, manda, mande, reenvia, reenvie, \
        transfiere, publica, sube",
    "data": "datos, contrasena*, lista de clientes, archivos, archivo, contenido*, correos, mensajes, \
        resultado*, credenciales, informacion, enviala*, envialos",
}

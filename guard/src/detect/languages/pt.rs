//! Portuguese.

language! {
    "pt", Latin, first,
    "override": "ignore, ignora, ignorem, esqueca, esquece, esquecam, desconsidere, desconsidera, despreze, \
        nao siga, nao sigas, contorne, anule, descarte",
    "instructions": "instruc*, instruco*, diretri*, regras, orientacoes, ordens, comandos, prompt, restric*, \
        diretivas",
    "before": "anterior*, acima, tudo o que, tudo que, o que foi dito, previas, previos",
    "system_note": "nota do sistema, mensagem do sistema, instrucao do sistema, aviso do sistema, novas \
        instrucoes, nova instrucao, nova tarefa",
    "to_machine": "ao assistente de ia, ao assistente, para o assistente, como assistente de ia, como modelo de \
        linguagem, como uma ia, agora voce e um, voce agora e, a partir de agora voce, nota para a \
        ia, caro assistente",
    "in_answer": "na sua resposta, na tua resposta, no final da sua resposta, ao final da sua resposta, no fim \
        da sua resposta, em cada resposta, em todas as respostas, responda apenas, responda somente, \
        responde apenas, sem avisar o usuario, nao conte ao usuario, nao informe o usuario, nao diga \
        ao usuario",
    "reveal": "revele, revela, mostre, mostra, diga-me, imprima, repita, exiba, divulgue",
    "secret": "suas instrucoes, tuas instrucoes, seu prompt, prompt do sistema, suas regras, mensagem do \
        sistema, senhas",
    "send": "envie, envia, enviem, mande, manda, encaminhe, encaminha, transfira, publique, carregue",
    "data": "dados, senha*, lista de clientes, arquivos, arquivo, ficheiros, conteudo*, e-mails, \
        mensagens, resultado*, credenciais, informacoes",
}

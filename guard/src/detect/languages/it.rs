//! Italian.

language! {
    "it", Latin, first,
    "override": "ignora, ignorare, ignorate, ignori, dimentica, dimenticate, dimentichi, trascura, tralascia, \
        scarta, non seguire, non seguite, non tenere conto, aggira, annulla",
    "instructions": "istruzion*, direttiv*, regole, indicazion*, ordini, prompt, comandi, restrizion*, linee \
        guida",
    "before": "precedent*, di cui sopra, tutto cio, tutto quello, quanto detto, qui sopra",
    "system_note": "nota di sistema, nota del sistema, messaggio di sistema, istruzione di sistema, avviso di \
        sistema, nuove istruzioni, nuova istruzione, nuovo compito",
    "to_machine": "all'assistente ia, all'assistente ai, per l'assistente, come assistente ia, come modello \
        linguistico, come ia, ora sei un, adesso sei, d'ora in poi sei, nota per l'ia, caro \
        assistente",
    "in_answer": "nella tua risposta, alla fine della tua risposta, all'inizio della tua risposta, alla fine \
        di ogni risposta, in ogni risposta, rispondi solo, rispondi soltanto, rispondi unicamente, \
        senza avvisare l'utente, non dire all'utente, non informare l'utente",
    "reveal": "rivela, rivelate, mostra, mostrami, mostrate, dimmi, stampa, ripeti, divulga",
    "secret": "le tue istruzioni, il tuo prompt, prompt di sistema, le tue regole, messaggio di sistema, \
        password",
    "send": "invia, inviate, invii, manda, mandate, inoltra, inoltrate, trasferisci, pubblica, carica",
    "data": "dati, password, elenco clienti, lista dei clienti, file, contenut*, e-mail, messaggi, \
        risultat*, credenziali, informazioni",
}

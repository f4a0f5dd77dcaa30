//! German.

language! {
    "de", Latin, first,
    "override": "ignoriere, ignorieren sie, ignoriert, vergiss, vergessen sie, missachte, missachten sie, \
        verwirf, verwerfen sie, umgehe, umgehen sie, uberschreibe, setze dich hinweg, beachte nicht, \
        beachten sie nicht, befolge nicht, folge nicht",
    "instructions": "anweisung*, instruktion*, richtlini*, vorgabe*, regeln, systemprompt*, prompt, prompts, \
        befehl*, anordnung*",
    "before": "davor, bisherige*, vorherige*, obige*, vorangegangen*, obenstehend*, zuvor, was du, was \
        ihnen, was dir",
    "system_note": "systemhinweis, systemnachricht, systemmeldung, systemanweisung, hinweis des systems, hinweis \
        vom system, neue anweisung*, neue instruktion*, aktualisierte anweisung*, entwicklerhinweis",
    "to_machine": "an den ki-assistenten, an die ki, an den assistenten, als ki-assistent, als ki-modell, als \
        sprachmodell, du bist jetzt ein, du bist nun ein, du bist ab sofort, lieber assistent, \
        hinweis an den assistenten, hinweis an die ki",
    "in_answer": "in deiner antwort, in deine antwort, am ende deiner antwort, am anfang deiner antwort, in \
        ihrer antwort auf diese, antworte nur mit, antworte ausschliesslich, antworte ab jetzt, \
        antworten sie nur mit, antworten sie ausschliesslich, beantworte einfach alles, erwahne \
        nicht dass, sage dem nutzer nicht, ohne den nutzer zu",
    "reveal": "zeige, zeig, gib, nenne, verrate, drucke, wiederhole, enthulle, offenbare, gebe, zeigen sie, \
        geben sie, nennen sie",
    "secret": "deine anweisung*, deinen systemprompt, deinen prompt, systemprompt, deine instruktion*, \
        deine regeln, ihre anweisung*, zugangsdaten, passworter",
    "send": "sende, schicke, schick, leite, ubermittle, lade, poste, senden sie, schicken sie, \
        ubermitteln sie, leiten sie",
    "data": "daten, passwort*, zugangsdaten, kundenliste, kundendaten, dateien, datei, inhalt*, alle \
        mails, alle e-mails, nachrichten, ergebnis*, schlussel",
}

//! Dutch.

language! {
    "nl", Latin, first,
    "override": "negeer, negeert, vergeet, omzeil, sla geen acht op, volg niet, houd geen rekening met",
    "instructions": "instructie*, richtlijn*, regels, aanwijzing*, opdracht*, systeemprompt, prompt, voorschrift*",
    "before": "hierboven, bovenstaande, voorgaande, vorige, eerdere, alles wat",
    "system_note": "systeembericht, systeemmelding, systeemnotitie, systeeminstructie, nieuwe instructie*, \
        nieuwe opdracht*",
    "to_machine": "aan de ai-assistent, aan de assistent, als ai-assistent, als taalmodel, je bent nu een, jij \
        bent nu, beste assistent, voor de ai-assistent",
    "in_answer": "in je antwoord, in jouw antwoord, aan het einde van je antwoord, aan het eind van je \
        antwoord, antwoord alleen met, antwoord uitsluitend, zonder de gebruiker, vertel de \
        gebruiker niet",
    "reveal": "toon, laat zien, onthul, geef, herhaal, print, noem",
    "secret": "je instructies, jouw instructies, je systeemprompt, systeemprompt, je prompt, je regels, \
        wachtwoorden",
    "send": "stuur, verstuur, verzend, mail, upload, plaats",
    "data": "gegevens, wachtwoord*, klantenlijst, bestanden, bestand, inhoud, berichten, resultat*, \
        inloggegevens",
}

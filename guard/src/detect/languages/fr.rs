//! French.

language! {
    "fr", Latin, first,
    "override": "ignore, ignorez, oublie, oubliez, neglige, negligez, outrepasse, outrepassez, contourne, \
        contournez, ne tiens pas compte, ne tenez pas compte, ne tenez aucun compte, fais \
        abstraction, faites abstraction, ne suis pas, ne suivez pas, passe outre, passez outre",
    "instructions": "instruction*, consigne*, directive*, regles, prompt, prompts, ordres, restriction*",
    "before": "ce qui precede, precedent*, ci-dessus, tout ce que, tout ce qui, ce qui a ete dit",
    "system_note": "note du systeme, note systeme, message du systeme, message systeme, instruction systeme, \
        nouvelle instruction, nouvelles instructions, nouvelle consigne, nouvelles consignes",
    "to_machine": "a l'assistant ia, a l'assistant, en tant qu'assistant, en tant qu'ia, en tant que modele de \
        langage, tu es maintenant un, tu es desormais, vous etes maintenant un, vous etes desormais, \
        cher assistant, note a l'ia, note pour l'assistant, note a l'assistant",
    "in_answer": "dans ta reponse, a la fin de ta reponse, au debut de ta reponse, a la fin de votre reponse, \
        dans chaque reponse, reponds uniquement, reponds seulement, reponds par, repondez \
        uniquement, repondez seulement, sans prevenir l'utilisateur, ne dis pas a l'utilisateur, \
        n'informe pas l'utilisateur",
    "reveal": "revele, revelez, affiche, affichez, montre, montrez, donne-moi, donnez-moi, repete, repetez, \
        divulgue, divulguez, imprime",
    "secret": "tes instructions, vos instructions, ton prompt, votre prompt, prompt systeme, invite \
        systeme, tes consignes, vos consignes, mots de passe, tes regles",
    "send": "envoie, envoyez, transfere, transferez, transmets, transmettez, poste, publie, telecharge",
    "data": "donnees, mot de passe, mots de passe, liste des clients, fichiers, fichier, contenu, \
        courriels, messages, resultat*, identifiants, informations",
}

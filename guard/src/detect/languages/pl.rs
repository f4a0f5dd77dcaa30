//! Polish.

language! {
    "pl", Latin, first,
    "override": "ignoruj, zignoruj, ignorujcie, zapomnij, zapomnijcie, pomin, zlekcewaz, nie stosuj sie, nie \
        przestrzegaj, obejdz, nie zwracaj uwagi",
    "instructions": "instrukcj*, polecen*, wytyczn*, zasad*, regul*, zalecen*, prompt*, nakaz*, ograniczen*",
    "before": "poprzedni*, powyzsz*, wczesniejsz*, wszystko, wszystkim, dotychczasow*",
    "system_note": "komunikat systemowy, wiadomosc systemowa, uwaga systemowa, instrukcja systemowa, nowe \
        instrukcje, nowe polecenie, nowe polecenia, nowe zadanie",
    "to_machine": "do asystenta ai, do asystenta, dla asystenta, jako asystent ai, jako model jezykowy, jestes \
        teraz, drogi asystencie",
    "in_answer": "w swojej odpowiedzi, w twojej odpowiedzi, na koncu odpowiedzi, na koncu swojej odpowiedzi, w \
        kazdej odpowiedzi, odpowiedz tylko, odpowiadaj tylko, odpowiedz wylacznie, nie mow \
        uzytkownikowi, nie informuj uzytkownika",
    "reveal": "ujawnij, pokaz, wyswietl, podaj, powtorz, wypisz, zdradz",
    "secret": "swoje instrukcje, swoich instrukcji, prompt systemowy, promptu systemowego, swoj prompt, \
        swoje zasady, hasla",
    "send": "wyslij, przeslij, przekaz, wyslijcie, opublikuj",
    "data": "dane, hasla, haslo, liste klientow, pliki, plik, zawartosc, wiadomosci, wynik*, informacje",
}

//! Turkish.

language! {
    "tr", Latin, last,
    "override": "yok say, yok sayin, gormezden gel, gormezden gelin, unut, unutun, dikkate alma, dikkate \
        almayin, gozardi et, goz ardi et, goz ardi edin, uyma, uymayin",
    "instructions": "talimat*, yonerge*, kurallari, kurallara, kurallarini, komutlari, komutlara, istemi, \
        emirleri",
    "before": "onceki*, yukaridaki*, her seyi, daha once, soylenen*",
    "system_note": "sistem notu, sistem mesaji, sistem talimati, yeni talimat*, yeni gorev",
    "to_machine": "yapay zeka asistani olarak, bir yapay zeka olarak, dil modeli olarak, artik sen, sevgili \
        asistan, asistana not, yapay zekaya not",
    "in_answer": "yanitinin sonuna, cevabinin sonuna, yanitinda, cevabinda, yalnizca su sekilde yanit, sadece \
        su sekilde, kullaniciya soyleme, kullaniciya haber verme",
    "reveal": "goster, acikla, yazdir, tekrarla, paylas, ifsa et",
    "secret": "talimatlarini, sistem istemini, sistem mesajini, kurallarini, sifreleri, parolalari",
    "send": "gonder, gonderin, ilet, iletin, yolla, yukle, aktar",
    "data": "verileri, verilerini, sifreyi, sifreleri, parolayi, parolalari, musteri listesini, \
        dosyalari, dosyayi, icerigini, mesajlari, bilgileri, bilgilerini",
}

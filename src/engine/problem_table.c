/*
 * problem_table.c - every problem there is: status, names, and its texts in
 * Uzbek, English and Turkish.  kod and code never change; texts may.
 */
#include "base/text.h"
#include "idem/problem.h"

#define OF_KEY true
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a list, no expression */
#define TEXTS(uz, en, tr) { [IDEM_UZ] = uz, [IDEM_EN] = en, [IDEM_TR] = tr }

static const struct idem_problem_row table[] = {
[IDEM_P_KEY_REQUIRED] = {
	400, "idempotentlik-kalit-kerak", "key-required", 0, OF_KEY,
	TEXTS("Idempotency-Key kerak",
	    "Idempotency-Key required",
	    "Idempotency-Key gerekli"),
	TEXTS("Bu so'rovga Idempotency-Key sarlavhasi kerak: bir niyatga bitta "
	    "kalit, har urinishda o'sha kalit",
	    "This request needs an Idempotency-Key header: one key for one "
	    "intent, the same on every attempt",
	    "Bu istek bir Idempotency-Key başlığı gerektirir: her niyet için "
	    "bir anahtar, her denemede aynısı"),
},
[IDEM_P_KEY_INVALID] = {
	400, "idempotentlik-kalit", "key-invalid", 0, OF_KEY,
	TEXTS("Idempotency-Key yaroqsiz",
	    "Idempotency-Key invalid",
	    "Idempotency-Key geçersiz"),
	TEXTS("Idempotency-Key — 1..255 ko'rinadigan ASCII belgi",
	    "Idempotency-Key is 1 to 255 visible ASCII characters, sent once",
	    "Idempotency-Key 1 ile 255 arası görünür ASCII karakterdir ve bir "
	    "kez gönderilir"),
},
[IDEM_P_SCOPE_REQUIRED] = {
	400, "idempotentlik-egasi", "scope-required", 0, OF_KEY,
	TEXTS("So'rov egasi noma'lum",
	    "Who is asking is unknown",
	    "İsteğin sahibi bilinmiyor"),
	TEXTS("Kalit so'rov egasiga tegishli: tizimga kiring yoki hisob "
	    "ma'lumotlarini yuboring",
	    "A key belongs to whoever sends it: sign in, or send your "
	    "credentials",
	    "Anahtar isteği gönderene aittir: oturum açın ya da kimlik "
	    "bilgilerinizi gönderin"),
},
[IDEM_P_KEY_REUSED] = {
	422, "idempotentlik-boshqa-tana", "key-reused", 0, OF_KEY,
	TEXTS("Idempotency-Key qayta ishlatildi",
	    "Idempotency-Key reused",
	    "Idempotency-Key yeniden kullanıldı"),
	TEXTS("Bu Idempotency-Key boshqa so'rov tanasi bilan ishlatilgan",
	    "This Idempotency-Key was used with a different request",
	    "Bu Idempotency-Key başka bir istekle kullanılmış"),
},
[IDEM_P_IN_PROGRESS] = {
	409, "idempotentlik-jarayonda", "in-progress", 1, OF_KEY,
	TEXTS("So'rov bajarilmoqda",
	    "Request in progress",
	    "İstek işleniyor"),
	TEXTS("Shu kalitli so'rov hali bajarilmoqda",
	    "The request with this key is still being carried out",
	    "Bu anahtarlı istek hâlâ işleniyor"),
},
[IDEM_P_OUTCOME_UNKNOWN] = {
	409, "idempotentlik-nomalum", "outcome-unknown", 0, OF_KEY,
	TEXTS("Natija noma'lum",
	    "Outcome unknown",
	    "Sonuç bilinmiyor"),
	TEXTS("Ish boshlangan, ammo qanday tugaganini hech kim ayta olmaydi; u "
	    "qayta bajarilmaydi. Xizmat egasiga murojaat qiling",
	    "The work began and nobody can say how it ended; it is not done "
	    "again. Please ask the operator of this service",
	    "İş başladı, ama nasıl bittiğini kimse söyleyemiyor; yeniden "
	    "yapılmaz. Lütfen hizmetin sahibine başvurun"),
},
[IDEM_P_STORE_UNAVAILABLE] = {
	503, "idempotentlik-ombor", "store-unavailable", 1, OF_KEY,
	TEXTS("Kalit ombori ishlamayapti",
	    "Key store unavailable",
	    "Anahtar deposu çalışmıyor"),
	TEXTS("Kalitlar ombori hozir javob bermayapti; birozdan so'ng o'sha "
	    "kalit bilan qayta yuboring",
	    "The key store cannot answer right now; send the request again "
	    "shortly, with the same key",
	    "Anahtar deposu şu anda yanıt veremiyor; isteği biraz sonra aynı "
	    "anahtarla yeniden gönderin"),
},
[IDEM_P_STORE_FULL] = {
	503, "idempotentlik-ombor-tola", "store-full", 60, OF_KEY,
	TEXTS("Kalit ombori to'la",
	    "Key store full",
	    "Anahtar deposu dolu"),
	TEXTS("Kalitlar omborida joy qolmadi, so'rov bajarilmadi; keyinroq "
	    "o'sha kalit bilan qayta yuboring",
	    "The key store has no room, so nothing was done; send the request "
	    "again later, with the same key",
	    "Anahtar deposunda yer kalmadı, istek yerine getirilmedi; daha "
	    "sonra aynı anahtarla yeniden gönderin"),
},
[IDEM_P_BODY_TOO_LARGE] = {
	413, "tana-katta", "body-too-large", 0, false,
	TEXTS("So'rov tanasi juda katta",
	    "Request body too large",
	    "İstek gövdesi çok büyük"),
	TEXTS("So'rov tanasi ruxsat etilgan hajmdan katta; hech narsa "
	    "bajarilmadi",
	    "The request body is larger than this service accepts; nothing "
	    "was done",
	    "İstek gövdesi izin verilen boyutu aşıyor; hiçbir şey yapılmadı"),
},
[IDEM_P_BODY_TRUNCATED] = {
	503, "tana-chala", "body-truncated", 1, false,
	TEXTS("So'rov tanasi to'liq kelmadi",
	    "Request body incomplete",
	    "İstek gövdesi eksik geldi"),
	TEXTS("So'rov tanasi e'lon qilinganidan qisqa keldi; uni o'sha kalit "
	    "bilan qayta yuboring",
	    "The request body is shorter than announced; send it again, with "
	    "the same key",
	    "İstek gövdesi bildirilenden kısa geldi; aynı anahtarla yeniden "
	    "gönderin"),
},
[IDEM_P_BODY_LENGTH] = {
	400, "tana-uzunligi", "body-length", 0, false,
	TEXTS("So'rov tanasining uzunligi yaroqsiz",
	    "Body length invalid",
	    "Gövde uzunluğu geçersiz"),
	TEXTS("Content-Length o'nlik son bo'lishi kerak",
	    "Content-Length must be a decimal number",
	    "Content-Length ondalık bir sayı olmalıdır"),
},
[IDEM_P_JSON_INVALID] = {
	400, "json-yaroqsiz", "json-invalid", 0, false,
	TEXTS("JSON yaroqsiz",
	    "JSON invalid",
	    "JSON geçersiz"),
	TEXTS("So'rov tanasi yaroqli JSON emas",
	    "The request body is not valid JSON",
	    "İstek gövdesi geçerli JSON değil"),
},
[IDEM_P_VALIDATION] = {
	422, "tekshiruv", "validation", 0, false,
	TEXTS("Ma'lumot tekshiruvdan o'tmadi",
	    "Validation failed",
	    "Doğrulama başarısız"),
	TEXTS("Ba'zi maydonlar talabga javob bermaydi",
	    "Some fields do not meet the requirements",
	    "Bazı alanlar gereklere uymuyor"),
},
[IDEM_P_NOT_FOUND] = {
	404, "topilmadi", "not-found", 0, false,
	TEXTS("Topilmadi",
	    "Not found",
	    "Bulunamadı"),
	TEXTS("Bu manzilda hech narsa yo'q",
	    "There is nothing at this address",
	    "Bu adreste hiçbir şey yok"),
},
[IDEM_P_METHOD_NOT_ALLOWED] = {
	405, "metod", "method-not-allowed", 0, false,
	TEXTS("Bu metod qo'llanmaydi",
	    "Method not allowed",
	    "Bu yöntem desteklenmiyor"),
	TEXTS("Bu manzil qo'llaydigan metodlar Allow sarlavhasida",
	    "The Allow header names the methods that this address offers",
	    "Bu adresin desteklediği yöntemler Allow başlığında yazar"),
},
[IDEM_P_PRECONDITION_FAILED] = {
	412, "shart-bajarilmadi", "precondition-failed", 0, false,
	TEXTS("Shart bajarilmadi",
	    "Precondition failed",
	    "Ön koşul sağlanmadı"),
	TEXTS("Yozuv siz o'qiganingizdan keyin o'zgargan; uni qayta o'qib, "
	    "yana urinib ko'ring",
	    "It has changed since you read it; read it again and try once more",
	    "Kayıt siz okuduktan sonra değişmiş; yeniden okuyup bir daha "
	    "deneyin"),
},
[IDEM_P_MEDIA_TYPE] = {
	415, "media-turi", "media-type", 0, false,
	TEXTS("Media turi qo'llanmaydi",
	    "Media type not supported",
	    "Ortam türü desteklenmiyor"),
	TEXTS("So'rovning Content-Type turi bu yerda qabul qilinmaydi",
	    "The Content-Type of this request is not accepted here",
	    "Bu isteğin Content-Type türü burada kabul edilmiyor"),
},
[IDEM_P_ORDER_PAID] = {
	409, "buyurtma-tolangan", "order-paid", 0, false,
	TEXTS("Buyurtma allaqachon to'langan",
	    "Order already paid",
	    "Sipariş zaten ödenmiş"),
	TEXTS("Bu buyurtma uchun to'lov qabul qilingan; yana hech narsa "
	    "yechilmadi",
	    "This order has been paid; nothing more was charged",
	    "Bu siparişin ödemesi alınmış; yeniden ücret alınmadı"),
},
[IDEM_P_ORDER_BUSY] = {
	409, "buyurtma-band", "order-busy", 1, false,
	TEXTS("Buyurtma hozir to'lanmoqda",
	    "Order is being paid",
	    "Sipariş şu anda ödeniyor"),
	TEXTS("Bu buyurtma uchun boshqa to'lov bajarilmoqda; bu so'rov bilan "
	    "hech narsa yechilmadi",
	    "Another payment for this order is under way; this request charged "
	    "nothing",
	    "Bu sipariş için başka bir ödeme sürüyor; bu istekle ücret "
	    "alınmadı"),
},
[IDEM_P_PAYMENT_DECLINED] = {
	402, "tolov-rad", "payment-declined", 0, false,
	TEXTS("To'lov rad etildi",
	    "Payment declined",
	    "Ödeme reddedildi"),
	TEXTS("To'lov xizmati to'lovni rad etdi; hech narsa yechilmadi",
	    "The payment provider declined the payment; nothing was charged",
	    "Ödeme hizmeti ödemeyi reddetti; ücret alınmadı"),
},
[IDEM_P_PROVIDER_UNAVAILABLE] = {
	503, "tolov-xizmati", "provider-unavailable", 5, false,
	TEXTS("To'lov xizmati ishlamayapti",
	    "Payment provider unavailable",
	    "Ödeme hizmeti çalışmıyor"),
	TEXTS("To'lov boshlanmadi, hech narsa yechilmadi; birozdan so'ng o'sha "
	    "kalit bilan qayta yuboring",
	    "The payment was not started and nothing was charged; send the "
	    "request again shortly, with the same key",
	    "Ödeme başlatılmadı, ücret alınmadı; isteği biraz sonra aynı "
	    "anahtarla yeniden gönderin"),
},
[IDEM_P_PROVIDER_UNKNOWN] = {
	504, "tolov-nomalum", "provider-unknown", 0, false,
	TEXTS("To'lov natijasi noma'lum",
	    "Payment outcome unknown",
	    "Ödemenin sonucu bilinmiyor"),
	TEXTS("To'lov xizmati aniq javob bermadi; yangi to'lov boshlamang, "
	    "o'sha kalit bilan qayta yuboring",
	    "The payment provider gave no clear answer; do not start a new "
	    "payment, send this one again with the same key",
	    "Ödeme hizmeti kesin yanıt vermedi; yeni bir ödeme başlatmayın, "
	    "isteği aynı anahtarla yeniden gönderin"),
},
[IDEM_P_BACKEND_UNREACHABLE] = {
	502, "ilova-ulanmadi", "backend-unreachable", 0, false,
	TEXTS("Ilovaga ulanib bo'lmadi",
	    "Application unreachable",
	    "Uygulamaya ulaşılamadı"),
	TEXTS("So'rov ilovaga yetib bormadi; hech narsa bajarilmadi",
	    "The request did not reach the application; nothing was done",
	    "İstek uygulamaya ulaşmadı; hiçbir şey yapılmadı"),
},
[IDEM_P_BACKEND_BROKEN] = {
	502, "ilova-uzildi", "backend-broken", 0, false,
	TEXTS("Ilova javobi uzildi",
	    "Application answer broken off",
	    "Uygulamanın yanıtı kesildi"),
	TEXTS("Ilova javobini tugatmadi; ish bajarilgan-bajarilmagani noma'lum",
	    "The application did not finish its answer; whether the work was "
	    "done is unknown",
	    "Uygulama yanıtını bitirmedi; işin yapılıp yapılmadığı bilinmiyor"),
},
[IDEM_P_BACKEND_TIMEOUT] = {
	504, "ilova-kechikdi", "backend-timeout", 0, false,
	TEXTS("Ilova javob bermadi",
	    "Application timed out",
	    "Uygulama yanıt vermedi"),
	TEXTS("Ilova vaqtida javob bermadi; ish bajarilgan-bajarilmagani "
	    "noma'lum",
	    "The application did not answer in time; whether the work was done "
	    "is unknown",
	    "Uygulama zamanında yanıt vermedi; işin yapılıp yapılmadığı "
	    "bilinmiyor"),
},
[IDEM_P_INTERNAL] = {
	500, "ichki-xato", "internal", 0, false,
	TEXTS("Ichki xato",
	    "Internal error",
	    "İç hata"),
	TEXTS("Xizmatda kutilmagan xato yuz berdi",
	    "Something unexpected went wrong in this service",
	    "Hizmette beklenmeyen bir hata oluştu"),
},
};
_Static_assert(sizeof table / sizeof table[0] == IDEM_NPROBLEMS,
    "one row per problem");

const struct idem_problem_row *
idem_problem_row(enum idem_problem problem)
{
	return &table[problem];
}

bool
idem_problem_find(struct idem_span kod, enum idem_problem *out)
{
	for (size_t i = 0; i < IDEM_NPROBLEMS; i++)
		if (span_eq(kod, span_of(table[i].kod))) {
			*out = (enum idem_problem)i;
			return true;
		}
	return false;
}

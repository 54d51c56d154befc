/*
 * policy.c - the published policy: one table of lines, each with its name for
 * programs and its label for people.
 */
#include "tasks/pages.h"

#include <inttypes.h>

#include "base/text.h"
#include "idem/json.h"
#include "idem/key.h"

/* How a line's value is written. */
enum form { FORM_TEXT, FORM_LIST, FORM_FLAG, FORM_COUNT, FORM_MS, FORM_BYTES };

enum line {
	LINE_HEADER,
	LINE_METHODS,
	LINE_REQUIRED,
	LINE_KEY,
	LINE_KEY_MAX,
	LINE_OWNER,
	LINE_KEEP,
	LINE_UNKNOWN_KEEP,
	LINE_ROOM,
	LINE_FULL,
	LINE_MIN_KEEP,
	LINE_BODY_MAX,
	LINE_RESPONSE_MAX,
	LINE_STORED,
	LINE_FIELDS,
	LINE_MORE_FIELDS
};
#define NLINES ((size_t)LINE_MORE_FIELDS + 1)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a list, no expression */
#define TEXTS(uz, en, tr) { [IDEM_UZ] = uz, [IDEM_EN] = en, [IDEM_TR] = tr }

static const struct {
	const char *name;
	enum form form;
	const char *label[IDEM_NLANGS];
} lines[] = {
	[LINE_HEADER] = { "sarlavha", FORM_TEXT,
	    TEXTS("Sarlavha", "Header", "Başlık") },
	[LINE_METHODS] = { "metodlar", FORM_LIST, TEXTS("Himoyalangan metodlar",
	    "Protected methods", "Korunan yöntemler") },
	[LINE_REQUIRED] = { "majburiy", FORM_FLAG, TEXTS("Kalit majburiymi",
	    "Key required", "Anahtar zorunlu mu") },
	[LINE_KEY] = { "kalit", FORM_TEXT, TEXTS("Kalit shakli",
	    "Key format", "Anahtar biçimi") },
	[LINE_KEY_MAX] = { "kalit_bayt", FORM_BYTES, TEXTS(
	    "Kalitning eng katta uzunligi", "Longest key",
	    "En uzun anahtar") },
	[LINE_OWNER] = { "egasi", FORM_TEXT, TEXTS("Kalit egasi",
	    "Owner of a key", "Anahtarın sahibi") },
	[LINE_KEEP] = { "saqlash", FORM_MS, TEXTS("Javob saqlanadigan vaqt",
	    "Answers are kept for", "Yanıtların saklanma süresi") },
	[LINE_UNKNOWN_KEEP] = { "nomalum_saqlash", FORM_MS, TEXTS(
	    "Noma'lum natija saqlanadigan vaqt",
	    "Unknown outcomes are kept for",
	    "Bilinmeyen sonuçların saklanma süresi") },
	[LINE_ROOM] = { "kalitlar", FORM_COUNT, TEXTS("Eng ko'p kalitlar",
	    "Most keys", "En çok anahtar") },
	[LINE_FULL] = { "tolganda", FORM_TEXT, TEXTS("Joy qolmaganda",
	    "When there is no room", "Yer kalmadığında") },
	[LINE_MIN_KEEP] = { "eng_kam_saqlash", FORM_MS, TEXTS(
	    "Joy qolmaganda ham saqlanadigan vaqt",
	    "Kept even then for", "O zaman bile saklanma süresi") },
	[LINE_BODY_MAX] = { "sorov_bayt", FORM_BYTES, TEXTS(
	    "So'rov tanasi, eng ko'pi", "Longest request body",
	    "En uzun istek gövdesi") },
	[LINE_RESPONSE_MAX] = { "javob_bayt", FORM_BYTES, TEXTS(
	    "Saqlanadigan javob tanasi, eng ko'pi",
	    "Longest answer body that is kept",
	    "Saklanan en uzun yanıt gövdesi") },
	[LINE_STORED] = { "saqlanadi", FORM_TEXT, TEXTS("Nima saqlanadi",
	    "What is stored", "Ne saklanır") },
	[LINE_FIELDS] = { "sarlavhalar", FORM_LIST, TEXTS(
	    "Saqlanadigan javob sarlavhalari", "Answer fields that are kept",
	    "Saklanan yanıt başlıkları") },
	[LINE_MORE_FIELDS] = { "yana_sarlavhalar", FORM_LIST, TEXTS(
	    "Va yana", "And also", "Ayrıca") },
};
_Static_assert(sizeof lines / sizeof lines[0] == NLINES, "one row per line");

static const char *const key_format[] = TEXTS(
    "1..255 ko'rinadigan ASCII belgi, \" \\ , ; belgilarisiz; yoki qo'shtirnoq"
    " ichida Structured Field String (RFC 9651). Har niyatga yangi tasodifiy"
    " UUID, har urinishda o'sha",
    "1 to 255 visible ASCII characters without \" \\ , ; or, in quotes, a"
    " Structured Field String (RFC 9651). A new random UUID for each intent,"
    " the same on every attempt",
    "\" \\ , ; dışında 1 ile 255 arası görünür ASCII karakter ya da tırnak"
    " içinde bir Structured Field String (RFC 9651). Her niyet için yeni"
    " rastgele bir UUID, her denemede aynısı");

static const char *const owner[] = TEXTS(
    "Kalit uni yuborganga tegishli: boshqa foydalanuvchining shunday kaliti"
    " boshqa kalit",
    "A key belongs to whoever sends it: the same key of another user is"
    " another key",
    "Anahtar onu gönderene aittir: başka bir kullanıcının aynı anahtarı başka"
    " bir anahtardır");

static const char *const full[2][IDEM_NLANGS] = {
	TEXTS("yangi kalit qabul qilinmaydi (503)",
	    "new keys are refused (503)",
	    "yeni anahtar kabul edilmez (503)"),
	TEXTS("eng eski javob o'chiriladi, u yetarlicha saqlangan bo'lsa;"
	    " bo'lmasa yangi kalit qabul qilinmaydi (503)",
	    "the oldest answer goes, if it was kept long enough; else new keys"
	    " are refused (503)",
	    "yeterince saklandıysa en eski yanıt silinir; yoksa yeni anahtar"
	    " kabul edilmez (503)"),
};

static const char *const stored[] = TEXTS(
    "Javobning holati, tanasi va quyidagi sarlavhalari. Kalit, foydalanuvchi"
    " nomi va so'rov tanasi saqlanmaydi: faqat ularning SHA-256 xeshi",
    "The answer's status, body and the fields below. Key, user name and request"
    " body are not: only SHA-256 hashes of them",
    "Yanıtın durumu, gövdesi ve aşağıdaki başlıkları. Anahtar, kullanıcı adı ve"
    " istek gövdesi saklanmaz: yalnızca SHA-256 özetleri");

#define PIECE(name) name ","
static const char kept_fields[] = IDEM_KEPT_FIELDS(PIECE) "Cross-Origin-*";
#undef PIECE

/* By form: a text or list, a flag, or a number. */
struct value {
	struct idem_span text;
	uint64_t number;
};

static void
fill(const struct idem_policy *p, enum idem_lang lang,
    struct value v[NLINES])
{
	v[LINE_HEADER].text = IDEM_LIT("Idempotency-Key");
	v[LINE_METHODS].text = p->methods;
	v[LINE_REQUIRED].number = p->require_key;
	v[LINE_KEY].text = span_of(key_format[lang]);
	v[LINE_KEY_MAX].number = IDEM_KEY_MAX;
	v[LINE_OWNER].text = span_of(owner[lang]);
	v[LINE_KEEP].number = (uint64_t)p->ttl_ms;
	v[LINE_UNKNOWN_KEEP].number = (uint64_t)p->unknown_ttl_ms;
	v[LINE_ROOM].number = p->max_keys;
	v[LINE_FULL].text = span_of(full[p->evict][lang]);
	v[LINE_MIN_KEEP].number = (uint64_t)p->min_keep_ms;
	v[LINE_BODY_MAX].number = p->max_body_bytes;
	v[LINE_RESPONSE_MAX].number = p->max_response_bytes;
	v[LINE_STORED].text = span_of(stored[lang]);
	v[LINE_FIELDS].text = span_of(kept_fields);
	v[LINE_MORE_FIELDS].text = p->keep_headers;
}

static void
put_list_json(struct idem_span list, struct idem_buf *out)
{
	struct idem_span one;
	const char *between = "";

	idem_buf_putc(out, '[');
	while (list.n > 0 && span_next(&list, ',', &one)) {
		idem_buf_puts(out, span_of(between));
		idem_json_string(out, span_trim(one));
		between = ",";
	}
	idem_buf_putc(out, ']');
}

/* ISO 8601: PT24H, PT90M; below a whole second PT0.500S. */
static void
put_duration(uint64_t ms, struct idem_buf *out)
{
	if (ms % 1000 != 0)
		idem_buf_printf(out, "\"PT%" PRIu64 ".%03" PRIu64 "S\"",
		    ms / 1000, ms % 1000);
	else if (ms % 60000 != 0 || ms == 0)
		idem_buf_printf(out, "\"PT%" PRIu64 "S\"", ms / 1000);
	else if (ms % 3600000 != 0)
		idem_buf_printf(out, "\"PT%" PRIu64 "M\"", ms / 60000);
	else
		idem_buf_printf(out, "\"PT%" PRIu64 "H\"", ms / 3600000);
}

static void
put_json(enum form form, const struct value *v, struct idem_buf *out)
{
	switch (form) {
	case FORM_TEXT:
		idem_json_string(out, v->text);
		return;
	case FORM_LIST:
		put_list_json(v->text, out);
		return;
	case FORM_FLAG:
		idem_buf_puts(out, v->number != 0 ? IDEM_LIT("true") :
		    IDEM_LIT("false"));
		return;
	case FORM_MS:
		put_duration(v->number, out);
		return;
	case FORM_COUNT:
	case FORM_BYTES:
		idem_buf_printf(out, "%" PRIu64, v->number);
		return;
	}
}

void
policy_json(const struct settings *s, enum idem_lang lang,
    struct idem_buf *out)
{
	struct value values[NLINES] = { 0 };

	fill(&s->policy, lang, values);
	for (size_t i = 0; i < NLINES; i++) {
		idem_buf_printf(out, "%c\"%s\":", i == 0 ? '{' : ',',
		    lines[i].name);
		put_json(lines[i].form, &values[i], out);
	}
	idem_buf_putc(out, '}');
}

/* The largest unit in which v is a whole number. */
struct unit {
	uint64_t size;
	const char *name;
};

static void
put_units(uint64_t v, const struct unit *units, struct idem_buf *out)
{
	while (v == 0 ? units->size > 1 : v % units->size != 0)
		units++;
	idem_buf_printf(out, "%" PRIu64 " %s", v / units->size, units->name);
}

static void
put_html(enum form form, const struct value *v, enum idem_lang lang,
    struct idem_buf *out)
{
	static const struct unit times[] = { { 3600000, "h" }, { 60000, "min" },
		{ 1000, "s" }, { 1, "ms" } };
	static const struct unit sizes[] = { { 1024 * 1024, "MiB" },
		{ 1024, "KiB" }, { 1, "B" } };
	static const char *const yes_no[2][IDEM_NLANGS] = {
		TEXTS("yo'q", "no", "hayır"), TEXTS("ha", "yes", "evet"),
	};

	switch (form) {
	case FORM_TEXT:
	case FORM_LIST:
		idem_html_text(out, v->text);
		return;
	case FORM_FLAG:
		idem_html_text(out, span_of(yes_no[v->number != 0][lang]));
		return;
	case FORM_COUNT:
		idem_buf_printf(out, "%" PRIu64, v->number);
		return;
	case FORM_MS:
		put_units(v->number, times, out);
		return;
	case FORM_BYTES:
		put_units(v->number, sizes, out);
		return;
	}
}

void
policy_html(const struct settings *s, enum idem_lang lang,
    struct idem_buf *out)
{
	struct value values[NLINES] = { 0 };

	fill(&s->policy, lang, values);
	idem_buf_puts(out, IDEM_LIT("<dl>\n"));
	for (size_t i = 0; i < NLINES; i++) {
		idem_buf_puts(out, IDEM_LIT("<dt>"));
		idem_html_text(out, span_of(lines[i].label[lang]));
		idem_buf_puts(out, IDEM_LIT("</dt>\n<dd>"));
		put_html(lines[i].form, &values[i], lang, out);
		idem_buf_puts(out, IDEM_LIT("</dd>\n"));
	}
	idem_buf_puts(out, IDEM_LIT("</dl>\n"));
}

<?php
/* An API as Square's clients know it. */
require 'ledger.php';

$call = json_decode(file_get_contents('php://input'), true);
if ($call['source_id'] === 'declined') {
	book('declined ' . $call['note']);
	http_response_code(402);
	answer_json(['errors' => [['code' => 'CARD_DECLINED']]]);
}
answer_json(['payment' => ['id' => book($call['note'])]]);

<?php
/* An API as PayPal's clients know it. */
require 'ledger.php';

$call = json_decode(file_get_contents('php://input'), true);
http_response_code(201);
answer_json(['id' => book($call['amount']), 'status' => 'COMPLETED']);

<?php
/* A plain form: wrong, it comes back with a 200; right, it orders. */
require 'ledger.php';

$amount = $_POST['amount'] ?? '';
if (!preg_match('/^[0-9a-f]+$/', $amount)) {
	book("wrong $amount");
	echo '<form method="post"><p>What amount?</p></form>';
	exit;
}
header('Location: /thanks.php?order=' . book($amount), true, 303);

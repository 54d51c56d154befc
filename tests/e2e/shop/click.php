<?php
/* A merchant as Click calls it: a signed form; JSON with no type of its own. */
require 'ledger.php';

function say($error, $more = [])
{
	echo json_encode(['click_trans_id' => $_POST['click_trans_id'],
	    'error' => $error] + $more);
	exit;
}

$action = $_POST['action'];
$signed = $_POST['click_trans_id'] . $_POST['service_id'] . 'secret' .
    $_POST['merchant_trans_id'] .
    ($action === '1' ? $_POST['merchant_prepare_id'] : '') .
    $_POST['amount'] . $action . $_POST['sign_time'];
if (md5($signed) !== $_POST['sign_string'])
	say(-1, ['error_note' => 'SIGN CHECK FAILED! ' . book('forged')]);
$order = $_POST['merchant_trans_id'];
if ($action === '0')
	say(0, ['merchant_prepare_id' => book("prepare $order")]);
say(0, ['merchant_confirm_id' => book("complete $order")]);

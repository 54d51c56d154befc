<?php
/* The page of the plain form, for a shopper who is known by a cookie. */
setcookie('PHPSESSID', bin2hex(random_bytes(16)));
$do = htmlspecialchars($_GET['do'] ?? '');
$amount = htmlspecialchars($_GET['amount'] ?? '');
?>
<!DOCTYPE html>
<title>Order</title>
<form method="post" action="/checkout.php?do=<?= $do ?>">
<input type="hidden" name="order_token"
    value="<?= bin2hex(random_bytes(16)) ?>">
<input name="amount" value="<?= $amount ?>">
<button>Order</button>
</form>

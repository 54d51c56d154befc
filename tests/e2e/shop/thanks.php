<?php
/* Where an order ends. */
?>
<!DOCTYPE html>
<title>Thank you</title>
<p>Your order is number <b><?= (int)$_GET['order'] ?></b>.</p>

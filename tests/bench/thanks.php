<?php
echo "thanks\n";

<?php
// The page that every system of the plan makes: a list of twenty items. The server that is built into PHP asks this file for every page.
$name = htmlspecialchars($_GET['name'] ?? '');
echo "<!doctype html>\n<title>Items</title>\n<ul>\n";
for ($number = 1; $number <= 20; $number++) {
    echo "<li>item $number of $name</li>\n";
}
echo "</ul>\n";

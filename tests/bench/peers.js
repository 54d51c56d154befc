// A POST made safe by a middleware of the field, with the least of an
// application behind it.  usage: node peers.js memory|redis PORT [REDIS-PORT]
"use strict";
const express = require("express");

const [how, port, redisPort] = process.argv.slice(2);
let ntasks = 0;

function task(req) {
	return { id: ++ntasks, matn: req.body.matn, bajarildi: false };
}

// express-idempotency keeps its answers in this process.
function inMemory(app) {
	const { idempotency, getSharedIdempotencyService } =
	    require("express-idempotency");

	app.post("/vazifalar", idempotency(), (req, res) => {
		if (!getSharedIdempotencyService().isHit(req))
			res.status(201).send(task(req));
	});
}

// @node-idempotency/core keeps them in Redis.
async function inRedis(app) {
	const { Idempotency } = require("@node-idempotency/core");
	const { RedisStorageAdapter } =
	    require("@node-idempotency/storage-adapter-redis");
	const storage = new RedisStorageAdapter({
		url: "redis://127.0.0.1:" + redisPort });
	const keeper = new Idempotency(storage);

	await storage.connect();
	app.post("/vazifalar", async (req, res) => {
		const asked = { headers: req.headers, path: req.path,
			body: req.body, method: req.method };
		const kept = await keeper.onRequest(asked);

		if (kept !== undefined)
			return res.status(201).send(kept.body);
		const body = task(req);
		await keeper.onResponse(asked, { body });
		res.status(201).send(body);
	});
}

async function main() {
	const app = express();

	app.use(express.json());
	await (how === "memory" ? inMemory(app) : inRedis(app));
	app.listen(Number(port), "127.0.0.1");
}
main();

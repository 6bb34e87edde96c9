import type { FastifyReply } from "fastify";

/** Answers with JSON that is bytes already; never kept by anybody on the way. */
export function sendJson(reply: FastifyReply, bytes: Buffer): void {
  void reply.header("Content-Type", "application/json; charset=utf-8").header("Cache-Control", "no-store").send(bytes);
}

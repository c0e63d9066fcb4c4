import type { ControlCall } from "./calls.ts";

type Bindings = {
  DB: D1Database;
  /** The service's entrypoint for a start. */
  SETUP: Record<string, (...args: unknown[]) => Promise<unknown>>;
  /** The service, with a method that the types of Workers lack. */
  SERVICE: {
    scheduled(event: { cron: string; scheduledTime: Date }): Promise<{ outcome: string }>;
  };
};

/**
 * The Worker by which `npm start` controls the service, on a socket that its process alone can
 * reach. It answers a {@link ControlCall} with `{ value }` or `{ error }`.
 */
export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    try {
      const value = await answer(await request.json<ControlCall>(), env);
      return Response.json({ value: value ?? null });
    } catch (error) {
      return Response.json({ error: error instanceof Error ? error.message : String(error) });
    }
  },
};

async function answer(call: ControlCall, { DB, SETUP, SERVICE }: Bindings): Promise<unknown> {
  if (call.kind === "batch") {
    const statements = call.statements.map(({ sql, values }) => DB.prepare(sql).bind(...values));
    const results = await DB.batch(statements);
    return results.map(({ results: rows }) => rows);
  }
  if (call.kind === "setup") return SETUP[call.method]?.(...call.args);
  const scheduledTime = new Date(call.at);
  const { outcome } = await SERVICE.scheduled({ cron: call.cron, scheduledTime });
  if (outcome !== "ok") throw new Error(`the trigger ended with ${outcome}`);
  return outcome;
}

import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { openDatabase } from "../../src/db/db.ts";
import { users } from "../../src/db/schema/index.ts";
import worker, { Setup } from "../../src/worker.ts";
import { basic } from "./call.ts";
import { migrate } from "./migrate.ts";

interface Login {
  name: string;
  password: string;
}

/**
 * Runs the service on an empty database of its own, for tests that depend on the set of all
 * accounts.
 */
export async function openIsolatedService(database: D1Database) {
  await migrate(database);
  const db = openDatabase(database.withSession());
  await db.delete(users);
  const alone = { ...env, DB: database };
  return {
    db,
    setup: () => new Setup(createExecutionContext(), alone),
    /** Requests a path of the API with Basic credentials. */
    call: async (method: string, path: string, { name, password }: Login, json: object) => {
      const request = new Request(`https://forge.example/api/v1${path}`, {
        method,
        headers: { ...basic(name, password), "Content-Type": "application/json" },
        body: JSON.stringify(json),
      });
      const response = await worker.fetch(
        request as Parameters<typeof worker.fetch>[0],
        alone,
        createExecutionContext(),
      );
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}

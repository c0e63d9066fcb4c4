import { WorkerEntrypoint } from "cloudflare:workers";

import type { LocalDatabase } from "../database/object.ts";
import type { Message } from "../database/protocol.ts";
import { SERVICE_HEADER, urlOfWrite, WRITES } from "./protocol.ts";

type Bindings = {
  databases: DurableObjectNamespace<LocalDatabase>;
  repositories: DurableObjectNamespace;
  [WRITES]: Fetcher;
  /** The services that entry processes may call, by name. */
  [service: string]: unknown;
};

/** The methods of a repository's object that change what readers see. */
const CHANGES = new Set(["commitPush", "setHead", "fork", "share", "wake", "discard", "destroy"]);

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** What entry processes reach of the keeper, on a socket that only this user can open. */
export default class Keeper extends WorkerEntrypoint<Bindings> {
  override fetch(request: Request): Promise<Response> {
    const service = this.env[request.headers.get(SERVICE_HEADER) ?? ""] as Fetcher;
    return service.fetch(request);
  }

  /** Calls a database, as its binding does. */
  query(name: string, message: Message): Promise<Message> {
    const { databases } = this.env;
    return databases.get(databases.idFromName(name)).query(message);
  }

  /** Calls a method of a repository's object. */
  async callRepository(name: string, method: string, args: unknown[]): Promise<unknown> {
    const object = this.env.repositories.getByName(name) as unknown as Methods;
    const result = await (object[method] as Methods[string])(...args);
    if (CHANGES.has(method)) await this.env[WRITES].fetch(urlOfWrite("all"), { method: "POST" });
    return withoutDisposer(result);
  }
}

/**
 * A result as it was before it crossed RPC, which adds a method to end its use: a result with one
 * is kept until the caller ends its use, too.
 */
function withoutDisposer(result: unknown): unknown {
  if (typeof result !== "object" || result === null) return result;
  return Array.isArray(result) ? [...(result as unknown[])] : { ...result };
}

import { WorkerEntrypoint } from "cloudflare:workers";
import type { Hono } from "hono";

import { ANONYMOUS } from "./auth/actor.ts";
import { createApp } from "./app.ts";
import { parseConfig } from "./config.ts";
import { openDatabase } from "./db/db.ts";
import { createFirstAdministrator } from "./domain/accounts/create-first-administrator.ts";
import { GitStorage } from "./storage/storage.ts";

export { RepositoryObject } from "./storage/repository-object.ts";

type App = Pick<Hono, "fetch">;
let app: App | undefined;

export default {
  fetch(request, env, execution) {
    // Once an isolate: the configuration can't change while it lives.
    app ??= createApp(parseConfig(env)) as App;
    return app.fetch(request, env, execution);
  },
} satisfies ExportedHandler<Env>;

/** What whoever runs the service may ask of it; no address on the network leads here. */
export class Setup extends WorkerEntrypoint<Env> {
  /** Creates an administrator if there is none yet. */
  createFirstAdministrator(account: {
    name: string;
    password: string;
    email: string;
  }): Promise<{ created: boolean }> {
    const ctx = {
      config: parseConfig(this.env),
      db: openDatabase(this.env.DB.withSession("first-primary")),
      git: new GitStorage(this.env.PACKS, this.env.REPOSITORY),
      actor: ANONYMOUS,
      rootUrl: "",
      now: Date.now(),
      defer: (work: Promise<unknown>) => this.ctx.waitUntil(work),
    };
    return createFirstAdministrator(ctx, account);
  }
}

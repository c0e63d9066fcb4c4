import { env } from "cloudflare:workers";

import { ANONYMOUS } from "../../src/auth/actor.ts";
import { parseConfig } from "../../src/config.ts";
import type { Ctx } from "../../src/context.ts";
import { openDatabase } from "../../src/db/db.ts";
import { edgeCache } from "../../src/storage/edge-cache.ts";
import { GitStorage } from "../../src/storage/storage.ts";

/**
 * What jobs act on.
 *
 * @param bindings Bindings that take the place of the Worker's own.
 * @param now In milliseconds.
 */
export function systemCtx(bindings: Partial<Env>, now: number): Ctx {
  const all = { ...env, ...bindings };
  return {
    config: parseConfig({}),
    db: openDatabase(all.DB.withSession("first-primary")),
    git: new GitStorage(all.PACKS, all.REPOSITORY, all.STORAGE_JOBS, edgeCache),
    actor: ANONYMOUS,
    rootUrl: "",
    now,
    defer: () => {},
  };
}

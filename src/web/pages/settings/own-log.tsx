import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listOwnAudit } from "../../../domain/people/audit/list-audit.ts";
import type { WebEnv } from "../../env.ts";
import { AuditList, readAudit } from "../audit-list.tsx";
import { openOwnPage } from "../open-page.ts";
import { renderSettings } from "./settings-page.tsx";

/** The audit log of the reader's account. */
export const ownLog = new Hono<WebEnv>({ router: new TrieRouter() });

ownLog.get("/user/settings/log", async (c) => {
  const page = await openOwnPage(c);
  const view = await readAudit(c, (filter, cursor) =>
    listOwnAudit(page.ctx, page.user, { ...filter, owner: undefined }, cursor),
  );
  return renderSettings(
    c,
    page,
    { part: "log", status: view.refusal ? 422 : 200 },
    <section class="card" aria-labelledby="log">
      <h2 id="log">Log</h2>
      <p>
        What happened to your account, what you did, and what concerned you in organizations. Reads
        and pushes are not in it.
      </p>
      <AuditList c={c} view={view} />
    </section>,
  );
});

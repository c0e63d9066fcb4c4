import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listAudit } from "../../../domain/people/audit/list-audit.ts";
import type { WebEnv } from "../../env.ts";
import { AuditList, readAudit } from "../audit-list.tsx";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

/** The audit log of the service. */
export const audit = new Hono<WebEnv>({ router: new TrieRouter() });

audit.get(`${ADMIN_PATH}/audit`, async (c) => {
  const page = await openAdminPage(c);
  const view = await readAudit(c, (filter, cursor) => listAudit(page.ctx, filter, cursor));
  return renderAdmin(
    c,
    page,
    { part: "log", status: view.refusal ? 422 : 200 },
    <section class="card" aria-labelledby="log">
      <h2 id="log">Audit log</h2>
      <p>
        Who changed what, the newest first. Reads, pushes and uses of tokens{" "}
        <a href="/docs/audit">are not in it</a>.
      </p>
      <AuditList c={c} view={view} hasOwners />
    </section>,
  );
});

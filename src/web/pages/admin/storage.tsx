import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listStorage } from "../../../domain/operations/administration/list-storage.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { formatBytes } from "../format-bytes.ts";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { quotaPath } from "./quota.tsx";
import { openAdminPage } from "../open-admin-page.ts";

/** Who stores how much. */
export const storage = new Hono<WebEnv>({ router: new TrieRouter() });

storage.get(`${ADMIN_PATH}/storage`, async (c) => {
  const page = await openAdminPage(c);
  const owners = await listStorage(page.ctx);
  return renderAdmin(
    c,
    page,
    { part: "storage" },
    <section class="card" aria-labelledby="storage">
      <h2 id="storage">Storage by owner</h2>
      <p>
        The owners of the largest repositories and packages. Forks share the files of their parent,
        and count them, too.
      </p>
      {owners.length === 0 ? <p>Nobody stores anything.</p> : undefined}
      <div class="scroll" tabindex={0} role="region" aria-label="Owners">
        <table class="rows">
          <thead>
            <tr>
              <th>Owner</th>
              <th class="number">Repositories</th>
              <th class="number">Git</th>
              <th class="number">Large files</th>
              <th class="number">Packages</th>
              <th class="number">All</th>
            </tr>
          </thead>
          <tbody>
            {owners.map((owner) => (
              <tr>
                <th scope="row">
                  <a href={accountPath(owner)}>{owner.name}</a>{" "}
                  <a class="soft" href={quotaPath(owner)}>
                    quota<span class="hidden"> of {owner.name}</span>
                  </a>
                </th>
                <td class="number">
                  <Count of={owner.repoCount} />
                </td>
                <td class="number">{formatBytes(owner.gitBytes)}</td>
                <td class="number">{formatBytes(owner.lfsBytes)}</td>
                <td class="number">{formatBytes(owner.packageBytes)}</td>
                <td class="number">
                  {formatBytes(owner.gitBytes + owner.lfsBytes + owner.packageBytes)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>,
  );
});

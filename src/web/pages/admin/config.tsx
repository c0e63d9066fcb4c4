import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../../env.ts";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

/** The variables of the service that are in force. */
export const configuration = new Hono<WebEnv>({ router: new TrieRouter() });

configuration.get(`${ADMIN_PATH}/config`, async (c) => {
  const page = await openAdminPage(c);
  const { settings } = page.ctx.config;
  return renderAdmin(
    c,
    page,
    { part: "settings" },
    <section class="card" aria-labelledby="settings">
      <h2 id="settings">Settings in force</h2>
      <p>
        They are variables of the service, which its next start reads:{" "}
        <a href="/docs/configuration">what each allows</a>. Of secrets only whether they are set is
        shown.
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label="Settings">
        <table class="rows">
          <thead>
            <tr>
              <th>Variable</th>
              <th>Value</th>
              <th>From</th>
            </tr>
          </thead>
          <tbody>
            {settings.map(({ name, value, isSet }) => (
              <tr>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{value}</td>
                <td class="soft">{isSet ? "set" : "default"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>,
  );
});

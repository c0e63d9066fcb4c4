import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  COUNTED_MAX,
  countService,
  type ServiceCounts,
} from "../../../domain/operations/administration/count-service.ts";
import { EDGEFORGE_VERSION } from "../../../domain/version.ts";
import type { WebEnv } from "../../env.ts";
import { checkHealth } from "../../health.ts";
import { Count } from "../count.tsx";
import { ADMIN_PATH, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

/** How the service is, and how much there is. */
export const overview = new Hono<WebEnv>({ router: new TrieRouter() });

overview.get(ADMIN_PATH, async (c) => {
  const page = await openAdminPage(c);
  const [counts, health] = await Promise.all([countService(page.ctx), checkHealth(c.var)]);
  const checks = [
    ["Database", health.database],
    ...(health.disk ? ([["Disk", health.disk]] as const) : []),
  ] as const;
  return renderAdmin(
    c,
    page,
    { part: "overview" },
    <>
      <section class="card" aria-labelledby="health">
        <h2 id="health">Health</h2>
        <table class="rows">
          <tbody>
            {checks.map(([name, status]) => (
              <tr>
                <th scope="row">{name}</th>
                <td>{status === "pass" ? "It answers." : "It fails: writes are refused."}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">Version</th>
              <td>{EDGEFORGE_VERSION}</td>
            </tr>
            <tr>
              <th scope="row">Address</th>
              <td>{page.ctx.publicUrl}</td>
            </tr>
          </tbody>
        </table>
      </section>
      <Table heading="What there is" rows={THINGS} counts={counts} />
      <Table heading="What waits or fails" rows={WAITING} counts={counts} />
    </>,
  );
});

type Row = readonly [label: string, count: keyof ServiceCounts, path: string];

const THINGS: readonly Row[] = [
  ["Users", "users", "/users"],
  ["Organizations", "organizations", "/orgs"],
  ["Repositories", "repositories", "/repos"],
  ["Issues and pull requests", "issues", ""],
  ["Packages", "packages", "/packages"],
  ["Sessions", "sessions", ""],
];

const WAITING: readonly Row[] = [
  ["Mails to send", "mails", "/monitor/queue"],
  ["Webhooks that fail", "failingHooks", "/monitor/queue"],
  ["Mirrors that fail", "failingMirrors", "/monitor/queue"],
  ["Migrations that wait or failed", "stoppedImports", "/monitor/queue"],
  ["Accounts that are being deleted", "deletions", "/monitor/queue"],
];

interface TableProps {
  heading: string;
  rows: readonly Row[];
  counts: ServiceCounts;
}

function Table({ heading, rows, counts }: TableProps) {
  const id = heading.toLowerCase().replaceAll(" ", "-");
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{heading}</h2>
      <table class="rows">
        <tbody>
          {rows.map(([label, name, path]) => (
            <tr>
              <th scope="row">{path === "" ? label : <a href={ADMIN_PATH + path}>{label}</a>}</th>
              <td class="number">
                <Count of={counts[name]} />
                {name !== "repositories" && counts[name] === COUNTED_MAX ? " or more" : undefined}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

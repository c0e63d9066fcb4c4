import type { Context } from "hono";
import type { Child } from "hono/jsx";

import type { WebEnv } from "../../env.ts";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { HelpLink } from "../help-link.tsx";
import { Notice } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import { type PageOptions, renderPage } from "../render-page.tsx";
import { changeOwn } from "../settings/change-own.ts";
import { openAdminPage } from "../open-admin-page.ts";

/** The path of the administration. */
export const ADMIN_PATH = "/-/admin";

/**
 * The parts of the administration with their paths below it and the documents about them, in the
 * order of their links.
 */
const PARTS = {
  overview: ["Overview", "", "administration#health"],
  users: ["Users", "/users", "administration#accounts"],
  emails: ["E-mail addresses", "/emails", "administration#accounts"],
  badges: ["Badges", "/badges", "administration#accounts"],
  orgs: ["Organizations", "/orgs", "organizations"],
  repos: ["Repositories", "/repos", "administration#removing-objects"],
  packages: ["Packages", "/packages", "packages"],
  hooks: ["Webhooks", "/hooks", "webhooks#creating-a-webhook"],
  variables: ["Variables", "/actions/variables", "actions#secrets-and-variables"],
  runners: ["Runners", "/actions/runners", "actions#runners"],
  schedule: ["Schedule", "/monitor/cron", "administration#the-schedule"],
  queues: ["Queues", "/monitor/queue", "administration#what-fails"],
  storage: ["Storage", "/storage", "limits"],
  settings: ["Settings", "/config", "configuration#variables-of-the-service"],
  log: ["Log", "/audit", "audit"],
} as const satisfies Record<string, readonly [label: string, path: string, document: string]>;

/** The parts that the service has. */
const partsOf = ({ ctx }: OwnPage) =>
  Object.entries(PARTS).filter(([name]) => name !== "hooks" || !ctx.config.areWebhooksDisabled);

interface AdminOptions extends Omit<PageOptions, "title"> {
  part: keyof typeof PARTS;
  /** The title, if it is not that of the part. */
  title?: string;
  /** Why a form was refused whose page does not say it itself. */
  refusal?: Refusal | undefined;
  /** What was done. */
  done?: string | undefined;
}

/** Sends a page of the administration. */
export function renderAdmin(
  c: Context<WebEnv>,
  page: OwnPage,
  { part, title, refusal, done, ...options }: AdminOptions,
  body: Child,
): Promise<Response> {
  return renderPage(
    c,
    page,
    {
      status: refusal?.status ?? 200,
      ...options,
      title: `${title ?? PARTS[part][0]} - Administration`,
    },
    <>
      <h1>Administration</h1>
      <nav aria-label="Administration">
        <ul class="tabs">
          {partsOf(page).map(([name, [label, path]]) => (
            <li>
              <a href={ADMIN_PATH + path} aria-current={name === part ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <HelpLink document={PARTS[part][2]} />
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      {done === undefined ? undefined : <Notice kind="done">{done}</Notice>}
      {body}
    </>,
  );
}

/** Does what a form of the administration asks for, as `changeOwn` does for one of the settings. */
export const changeAsAdmin = (
  c: Context<WebEnv>,
  work: (page: OwnPage, form: SentForm) => Promise<string>,
  showAgain: (page: OwnPage, state: FormState) => Promise<Response>,
): Promise<Response> => changeOwn(c, work, showAgain, openAdminPage);

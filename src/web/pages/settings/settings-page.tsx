import type { Context } from "hono";
import type { Child } from "hono/jsx";

import type { WebEnv } from "../../env.ts";
import { HelpLink } from "../help-link.tsx";
import { Notice } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { type PageOptions, renderPage } from "../render-page.tsx";

/**
 * The parts of a user's settings with the documents about them, in the order of their links.
 */
const PARTS = {
  profile: ["Profile", "access"],
  account: ["Account", "sign-in"],
  appearance: ["Appearance", "pages"],
  security: ["Security", "sign-in#second-factors"],
  tokens: ["Access tokens", "api#tokens-for-one-purpose"],
  keys: ["Keys", "api#authentication"],
  applications: ["Applications", "oauth2"],
  organization: ["Organizations", "organizations#members"],
  repos: ["Repositories", "migration#leaving"],
  hooks: ["Webhooks", "webhooks"],
  "actions/secrets": ["Secrets", "actions#secrets-and-variables"],
  "actions/variables": ["Variables", "actions#secrets-and-variables"],
  "actions/runners": ["Runners", "actions#runners"],
  packages: ["Packages", "packages#cleanup-rules"],
  blocked_users: ["Blocked users", "access#blocks"],
  log: ["Log", "audit"],
} as const satisfies Record<string, readonly [label: string, document: string]>;

export type SettingsPartName = keyof typeof PARTS;

/** The part whose address is that of the settings. */
const FIRST: SettingsPartName = "profile";

/** The parts that the service has. */
const partsOf = ({ ctx }: OwnPage): [name: string, label: string][] =>
  Object.entries(PARTS)
    .filter(([name]) => name !== "packages" || ctx.config.packages.isOn)
    .filter(([name]) => name !== "hooks" || !ctx.config.areWebhooksDisabled)
    .map(([name, [label]]) => [name, label]);

/** How a page of the settings is sent. */
interface SettingsOptions extends Omit<PageOptions, "title"> {
  part: SettingsPartName;
  /** The outcome: what was done, or why it was not. */
  notice?: { kind: "error" | "done"; text: string } | undefined;
  /** Why a form was refused, in place of `status` and `notice`. */
  refusal?: Refusal | undefined;
}

/**
 * How a page is sent one of whose forms may have been refused.
 *
 * @param fields Those that say themselves why.
 */
export function outcomeOf(
  { refusal }: SettingsForms,
  fields: readonly string[],
): Pick<SettingsOptions, "refusal" | "status"> {
  if (!refusal) return {};
  const isShown = refusal.field !== undefined && fields.includes(refusal.field);
  return isShown ? { status: refusal.status } : { refusal };
}

/** Sends a page of a user's settings. */
export function renderSettings(
  c: Context<WebEnv>,
  page: OwnPage,
  { part, refusal, ...given }: SettingsOptions,
  body: Child,
): Response | Promise<Response> {
  const { notice, status, ...options } = refusal
    ? { ...given, status: refusal.status, notice: { kind: "error" as const, text: refusal.text } }
    : given;
  return renderPage(
    c,
    page,
    { ...options, title: `${PARTS[part][0]} settings`, status: status ?? 200 },
    <>
      <h1>Settings</h1>
      <nav aria-label="Settings">
        <ul class="tabs">
          {partsOf(page).map(([name, label]) => (
            <li>
              <a
                href={name === FIRST ? "/user/settings" : `/user/settings/${name}`}
                aria-current={name === part ? "page" : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <HelpLink document={PARTS[part][1]} />
      {notice ? <Notice kind={notice.kind}>{notice.text}</Notice> : undefined}
      {body}
    </>,
  );
}

import type { Context } from "hono";
import type { Child } from "hono/jsx";

import type { WebEnv } from "../../env.ts";
import { Notice } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import { type PageOptions, renderPage } from "../render-page.tsx";

/** The parts of a user's settings, in the order of their links. */
const PARTS = {
  security: "Security",
  applications: "Applications",
} as const;

/** How a page of the settings is sent. */
interface SettingsOptions extends Omit<PageOptions, "title" | "status"> {
  part: keyof typeof PARTS;
  /** Why a form was refused. */
  refusal?: Refusal | undefined;
}

/** Sends a page of a user's settings. */
export function renderSettings(
  c: Context<WebEnv>,
  page: OwnPage,
  { part, refusal, ...options }: SettingsOptions,
  body: Child,
): Response | Promise<Response> {
  return renderPage(
    c,
    page,
    { ...options, title: `${PARTS[part]} settings`, status: refusal?.status ?? 200 },
    <>
      <h1>Settings</h1>
      <nav aria-label="Settings">
        <ul class="tabs">
          {Object.entries(PARTS).map(([name, label]) => (
            <li>
              <a href={`/user/settings/${name}`} aria-current={name === part ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      {body}
    </>,
  );
}

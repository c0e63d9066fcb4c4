import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import type { WebEnv } from "../env.ts";
import type { Page } from "./open-page.ts";
import { renderPage } from "./render-page.tsx";

/** The content of a page without a form. */
interface Message {
  title: string;
  text: string;
  /** Where to go next. */
  link?: { path: string; label: string };
  status?: ContentfulStatusCode;
}

export const renderMessage = (
  c: Context<WebEnv>,
  page: Page,
  { title, text, link, status = 200 }: Message,
): Response | Promise<Response> =>
  renderPage(
    c,
    page,
    { title, status },
    <section class="card narrow">
      <h1>{title}</h1>
      <p>{text}</p>
      {link ? (
        <p>
          <a href={link.path}>{link.label}</a>
        </p>
      ) : undefined}
    </section>,
  );

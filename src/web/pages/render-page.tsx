import type { Context } from "hono";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import type { WebEnv } from "../env.ts";
import { type Feed, Layout, type PageMeta } from "./layout.tsx";
import type { Page } from "./open-page.ts";
import type { PageFile } from "./page-file.ts";

/** How a page is sent. */
export interface PageOptions {
  title: string;
  status?: ContentfulStatusCode;
  /** Scripts besides that of every page. */
  scripts?: readonly PageFile[];
  /** Origins besides this one to which a form of the page may lead, redirects after it included. */
  formTargets?: readonly string[];
  /** Whether search engines may list the page: it is for everybody. */
  isPublic?: boolean;
  /** What the page is about, for those who show a link to it. */
  meta?: PageMeta | undefined;
  /** Atom feeds about what the page shows. */
  feeds?: readonly Feed[];
  /** Whether a script of the page loads parts of it from this service. */
  loadsParts?: boolean;
  /** Whether the page shows a text of a user, whose images may be of other hosts. */
  hasUserText?: boolean;
}

/** Sends a page. */
export async function renderPage(
  c: Context<WebEnv>,
  { ctx, formToken, unreadCount }: Page,
  options: PageOptions,
  body: Child,
): Promise<Response> {
  const { title, status = 200, scripts = [], meta, feeds = [] } = options;
  const isListed = (options.isPublic ?? false) && status === 200;
  const isForAll = (options.isPublic ?? false) && ctx.actor.user === undefined;
  setPageHeaders(c, isForAll, options);
  return c.html(
    <>
      {raw("<!doctype html>")}
      <Layout
        title={title}
        appName={ctx.config.appName}
        user={ctx.actor.user}
        formToken={formToken}
        unreadCount={await unreadCount}
        scripts={scripts}
        isRefused={status >= 400}
        isListed={isListed}
        meta={meta}
        feeds={feeds}
      >
        {body}
      </Layout>
    </>,
    status,
  );
}

/**
 * SECURITY: nothing is loaded but this service's own files, no script is inline, and no other site
 * frames a page.
 */
function setPageHeaders(
  c: Context<WebEnv>,
  isForAll: boolean,
  { formTargets = [], hasUserText = false, loadsParts = false }: PageOptions,
): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    ...(loadsParts ? ["connect-src 'self'"] : []),
    hasUserText ? "img-src 'self' https:" : "img-src 'self'",
    "media-src 'self'",
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  c.header("Content-Security-Policy", policy.join("; "));
  // Addresses of pages may hold codes. Not `no-referrer`, with which browsers send no `Origin` with
  // a form.
  c.header("Referrer-Policy", "same-origin");
  // A page of one reader must not be shown to the next one, by the back button either.
  c.header("Cache-Control", isForAll ? "private, no-cache" : "no-store");
}

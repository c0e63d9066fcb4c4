import type { Context } from "hono";

import type { Session, User } from "../../db/schema/index.ts";
import type { Ctx } from "../../context.ts";
import { countNotifications } from "../../domain/issues/notifications/list-notifications.ts";
import { NOTIFICATION_SUBJECTS } from "../../domain/issues/notifications/notification-filter.ts";
import { authenticate } from "../../entrance/authenticate.ts";
import type { IncomingRequest, Requirements } from "../../entrance/door.ts";
import { Failure } from "../../lib/failure.ts";
import { requestPath } from "../../lib/request-path.ts";
import { incoming } from "../door.ts";
import type { WebEnv } from "../env.ts";
import { readCookie } from "../cookies.ts";
import { openFormToken } from "./form.ts";
import { withRedirectTo } from "./redirect-to.ts";

/** The request of a page, with its reader. */
export interface Page {
  ctx: Ctx;
  /** The token that each form of the page holds. */
  formToken: string;
  /** The reader's unread notifications, counted while the page reads what it is about. */
  unreadCount: Promise<number>;
}

/** A page of somebody who is signed in. */
export interface OwnPage extends Page {
  user: User;
  session: Session;
}

/**
 * Authenticates a page's reader by the cookie of a session alone; without one, the reader is
 * anonymous.
 */
export async function openPage(c: Context<WebEnv>): Promise<Page> {
  const { ctx } = await authenticate(readerRequest(c), { scopes: [], anonymous: "always" });
  return { ctx, formToken: await openFormToken(c), unreadCount: countUnread(c, ctx) };
}

/** Authenticates the reader of a page without forms for anonymous readers. */
export async function openPublicPage(
  c: Context<WebEnv>,
  anonymous: Requirements["anonymous"],
): Promise<Page> {
  const { ctx } = await authenticate(readerRequest(c), { scopes: [], anonymous });
  return toPublicPage(c, ctx);
}

/**
 * A page without forms for anonymous readers, who get no cookie by it.
 *
 * @param ctx The context of the request, with its reader.
 */
export const toPublicPage = async (c: Context<WebEnv>, ctx: Ctx): Promise<Page> => ({
  ctx,
  formToken: ctx.actor.user ? await openFormToken(c) : "",
  unreadCount: countUnread(c, ctx),
});

/** Counts the reader's unread notifications. A form that is refused shows its page without them. */
function countUnread(c: Context<WebEnv>, ctx: Ctx): Promise<number> {
  const { user } = ctx.actor;
  if (!user || c.req.method !== "GET") return Promise.resolve(0);
  const counted = countNotifications(ctx, {
    userId: user.id,
    statuses: ["unread"],
    subjects: NOTIFICATION_SUBJECTS,
  });
  // A page that is refused before it is rendered does not wait for it.
  counted.catch(() => undefined);
  return counted;
}

/**
 * The request of a page in the form that `src/entrance` takes.
 *
 * SECURITY: pages take neither Basic nor tokens, whose scopes do not cover pages.
 */
export function readerRequest(c: Context<WebEnv>): IncomingRequest {
  const secret = readCookie(c, "session");
  const credential =
    secret === undefined ? { kind: "none" as const } : { kind: "session" as const, secret };
  return { ...incoming(c), credential };
}

/**
 * Authenticates the reader of a page for people who are signed in.
 *
 * @throws SignInNeeded for anybody else.
 */
export const openOwnPage = async (c: Context<WebEnv>): Promise<OwnPage> =>
  requireOwn(c, await openPage(c));

/**
 * The page as one of somebody who is signed in.
 *
 * @throws SignInNeeded for anybody else.
 */
export function requireOwn(c: Context<WebEnv>, page: Page): OwnPage {
  const { user, session } = page.ctx.actor;
  if (user && session) return { ...page, user, session };
  // A form's address is no page.
  throw new SignInNeeded(c.req.method === "GET" ? pathAndQuery(c) : undefined);
}

/** The page of a request, to which a sign-in leads back. */
export const pathAndQuery = (c: Context<WebEnv>): string =>
  requestPath(c.req.url) + new URL(c.req.url).search;

/** A page for people who are signed in was requested by somebody who is not. */
export class SignInNeeded extends Failure {
  /** Where to sign in. */
  readonly path: string;

  constructor(redirectTo: string | undefined) {
    super("unauthenticated", "sign in first");
    this.path = withRedirectTo("/user/login", redirectTo);
  }
}

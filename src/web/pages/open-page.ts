import type { Context } from "hono";

import type { Session, User } from "../../db/schema/index.ts";
import type { Ctx } from "../../context.ts";
import {
  selectUnreadCount,
  toUnreadCount,
} from "../../domain/issues/notifications/select-unread-count.ts";
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
  /** The number of the reader's unread notifications. */
  unreadCount: number | Promise<number>;
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
  const { ctx, unreadCount } = await authenticateReader(c, "always");
  return { ctx, formToken: await openFormToken(c), unreadCount };
}

/** Authenticates the reader of a page without forms for anonymous readers. */
export async function openPublicPage(
  c: Context<WebEnv>,
  anonymous: Requirements["anonymous"],
): Promise<Page> {
  const { ctx, unreadCount } = await authenticateReader(c, anonymous);
  return toPublicPage(c, ctx, unreadCount);
}

/**
 * A page without forms for anonymous readers, who get no cookie by it.
 *
 * @param ctx The context of the request, with its reader.
 */
export const toPublicPage = async (
  c: Context<WebEnv>,
  ctx: Ctx,
  unreadCount: Page["unreadCount"],
): Promise<Page> => ({
  ctx,
  formToken: ctx.actor.user ? await openFormToken(c) : "",
  unreadCount,
});

/** Authenticates a page's reader, and counts what they have not read in the same round trip. */
async function authenticateReader(
  c: Context<WebEnv>,
  anonymous: Requirements["anonymous"],
): Promise<Pick<Page, "ctx" | "unreadCount">> {
  const request = readerRequest(c);
  const { ctx, more } = await authenticate(
    request,
    { scopes: [], anonymous },
    undefined,
    // Without a session there is nothing to ask the database for.
    request.credential?.kind === "session"
      ? (caller) => [selectUnreadCount(request.base.db, caller)] as const
      : undefined,
  );
  return { ctx, unreadCount: toUnreadCount(more?.[0]) };
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
  throw signInNeeded(c);
}

/**
 * Refuses a reader without a session before anything is looked up, so that they learn nothing of
 * what the address names.
 *
 * @throws SignInNeeded
 */
export function requireCookie(c: Context<WebEnv>): void {
  if (readCookie(c, "session") === undefined) throw signInNeeded(c);
}

/** A form's address is no page. */
const signInNeeded = (c: Context<WebEnv>): SignInNeeded =>
  new SignInNeeded(c.req.method === "GET" ? pathAndQuery(c) : undefined);

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

import { z } from "zod";

import { type Credential, readCredential } from "../../auth/credential.ts";
import { hashSecret } from "../../auth/secret.ts";
import { deriveSigningKey } from "../../auth/signing-key.ts";
import { TransferCredential, transferCredential } from "../../auth/transfer-credential.ts";
import type { Ctx } from "../../context.ts";
import { unauthenticated } from "../../lib/failure.ts";
import type { RegistryContext } from "../env.ts";

const AUDIENCE = "container_registry";
const ALGORITHM = "HS256";
/** What its tokens are signed for. */
const PURPOSE = "container registry token";

/**
 * The life of a token, in seconds. It is checked when a request begins, however long the request
 * takes.
 */
const LIFE_SECONDS = 60 * 60;

/**
 * The token of the anonymous caller where the service has no key to sign with. It grants nothing.
 */
const ANONYMOUS_TOKEN = "anonymous";

/** A signed token; tokens of the API have no dots. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const Claims = z.object({ credential: TransferCredential.optional() });

/** A response of the token endpoint. */
interface RegistryToken {
  readonly token: string;
  /** The same, for clients that know OAuth 2.0 only. */
  readonly access_token: string;
  readonly expires_in: number;
  readonly issued_at: string;
}

/**
 * Makes the token that stands for the credential of a request. It grants what the credential grants
 * when it is used, and ends with it; the scope that a client asks for does not narrow it.
 *
 * Without a key to sign with, a client that signs in with an access token gets that one back.
 *
 * @throws Failure `unauthenticated` for a password, if the service has no key.
 */
export async function makeRegistryToken(ctx: Ctx, c: RegistryContext): Promise<RegistryToken> {
  const { now } = ctx;
  const token = (await sign(ctx)) ?? (await ownToken(ctx, c));
  const issuedAt = new Date(now).toISOString();
  return { token, access_token: token, expires_in: LIFE_SECONDS, issued_at: issuedAt };
}

async function sign({ actor, config, now }: Ctx): Promise<string | undefined> {
  const [key] = config.sealingKeys;
  if (!key) return undefined;
  const { SignJWT } = await import("jose");
  const credential = actor.user && (await transferCredential(actor, actor.user));
  const seconds = Math.floor(now / 1000);
  return new SignJWT({ credential })
    .setProtectedHeader({ alg: ALGORITHM, kid: key.name })
    .setAudience(AUDIENCE)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + LIFE_SECONDS)
    .sign(await deriveSigningKey(key, PURPOSE));
}

/** The access token that the request has as its user name or password. */
async function ownToken({ actor }: Ctx, c: RegistryContext): Promise<string> {
  if (!actor.user) return ANONYMOUS_TOKEN;
  const credential = readCredential(c.req.header("authorization"), new URLSearchParams());
  const secrets = credential.kind === "basic" ? [credential.password, credential.name] : [];
  for (const secret of secrets) {
    if (actor.token && (await hashSecret(secret)) === actor.token.secretHash) return secret;
  }
  throw unauthenticated("sign in with an access token: the service has no key for passwords here");
}

/**
 * Reads the credential of a request to the registry: a token of `makeRegistryToken`, or whatever
 * the API takes.
 *
 * @returns Undefined for what the API reads itself.
 * @throws Failure `unauthenticated` for a token that was altered, or has expired.
 */
export async function readRegistryCredential(c: RegistryContext): Promise<Credential | undefined> {
  const [, text = ""] = /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
  if (text === ANONYMOUS_TOKEN) return { kind: "none" };
  if (!JWT.test(text)) return undefined;
  const { config, now } = c.var.base;
  const { jwtVerify, errors } = await import("jose");
  try {
    const { payload } = await jwtVerify(
      text,
      ({ kid }) => {
        const key = config.sealingKeys.find(({ name }) => name === kid);
        if (!key) throw new errors.JWKSNoMatchingKey();
        return deriveSigningKey(key, PURPOSE);
      },
      { audience: AUDIENCE, algorithms: [ALGORITHM], currentDate: new Date(now) },
    );
    return Claims.parse(payload).credential ?? { kind: "none" };
  } catch (error) {
    if (error instanceof errors.JOSEError) {
      throw unauthenticated("the token is not valid, or has expired");
    }
    throw error;
  }
}

import { createRoute, z } from "@hono/zod-openapi";

import {
  addGpgKeys,
  findGpgKey,
  listGpgKeys,
  proveGpgKey,
  removeGpgKey,
  type GpgKeyEntry,
} from "../../domain/people/keys/gpg-keys.ts";
import { tokensToSign } from "../../domain/people/keys/gpg-key-token.ts";
import { GPGKey, toGpgKey } from "../../shapes/keys/gpg-key.ts";
import { empty, refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage, done } from "../handlers.ts";
import { body, requiredText, optionalText } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { UserPath } from "../users/paths.ts";

export const gpgKeys = endpoints();

const KeyPath = z.object({ id: PathId });
const ARMOR_LENGTH_MAX = 524_288;

const shape = ({ key, subkeys, confirmedEmails }: GpgKeyEntry) =>
  toGpgKey(key, subkeys, confirmedEmails);

gpgKeys.openapi(
  createRoute({
    method: "get",
    path: "/user/gpg_keys",
    operationId: "userCurrentListGPGKeys",
    tags: ["user"],
    summary: "List your GPG keys",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: {
      200: page(z.array(GPGKey), "The GPG keys, oldest first"),
      ...refusals(401, 403),
    },
  }),
  (c) =>
    answerPage(c, ({ ctx, user }, slice) => listGpgKeys(ctx, user, slice), shape, readPageOrAll),
);

gpgKeys.openapi(
  createRoute({
    method: "post",
    path: "/user/gpg_keys",
    operationId: "userCurrentPostGPGKey",
    tags: ["user"],
    summary: "Add a GPG key",
    middleware: [signedIn("write:user")] as const,
    request: {
      body: {
        required: true,
        ...json(
          body({
            armored_public_key: requiredText(ARMOR_LENGTH_MAX),
            armored_signature: optionalText(ARMOR_LENGTH_MAX),
          }).openapi("CreateGPGKeyOption"),
          "The key, and optionally a signature of the token that verifies it",
        ),
      },
    },
    responses: {
      201: json(GPGKey, "The new key"),
      ...refusals(401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const sent = c.req.valid("json");
    const signature = sent.armored_signature || undefined;
    return c.json(shape(await addGpgKeys(ctx, user, sent.armored_public_key, signature)), 201);
  },
);

gpgKeys.openapi(
  createRoute({
    method: "get",
    path: "/user/gpg_key_token",
    operationId: "getVerificationToken",
    tags: ["user"],
    summary: "Get the token to sign for verifying a GPG key",
    middleware: [signedIn("read:user")] as const,
    responses: {
      200: {
        description: "The token; it changes every minute, and the previous token is still accepted",
        content: { "text/plain": { schema: z.string() } },
      },
      ...refusals(401, 403),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const [token = ""] = await tokensToSign(user, ctx.now);
    return c.text(token, 200);
  },
);

gpgKeys.openapi(
  createRoute({
    method: "post",
    path: "/user/gpg_key_verify",
    operationId: "userVerifyGPGKey",
    tags: ["user"],
    summary: "Verify a GPG key by a signature of the token",
    middleware: [signedIn("write:user")] as const,
    request: {
      body: {
        required: true,
        ...json(
          body({
            key_id: requiredText(40),
            armored_signature: requiredText(ARMOR_LENGTH_MAX),
          }).openapi("VerifyGPGKeyOption"),
          "The key's id and the signature",
        ),
      },
    },
    responses: {
      201: json(GPGKey, "The verified key"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const { key_id, armored_signature } = c.req.valid("json");
    return c.json(shape(await proveGpgKey(ctx, user, key_id, armored_signature)), 201);
  },
);

gpgKeys.openapi(
  createRoute({
    method: "get",
    path: "/user/gpg_keys/{id}",
    operationId: "userCurrentGetGPGKey",
    tags: ["user"],
    summary: "Get one of your GPG keys",
    middleware: [signedIn("read:user")] as const,
    request: { params: KeyPath },
    responses: {
      200: json(GPGKey, "The key"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    return c.json(shape(await findGpgKey(ctx, user, c.req.valid("param").id)), 200);
  },
);

gpgKeys.openapi(
  createRoute({
    method: "delete",
    path: "/user/gpg_keys/{id}",
    operationId: "userCurrentDeleteGPGKey",
    tags: ["user"],
    summary: "Remove one of your GPG keys",
    middleware: [signedIn("write:user")] as const,
    request: { params: KeyPath },
    responses: {
      204: empty("The key was removed"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => done(c, ({ ctx, user }) => removeGpgKey(ctx, user, c.req.valid("param").id)),
);

gpgKeys.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/gpg_keys",
    operationId: "userListGPGKeys",
    tags: ["user"],
    summary: "List a user's GPG keys",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: Paging },
    responses: {
      200: page(z.array(GPGKey), "The GPG keys, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, account }, slice) => listGpgKeys(ctx, account, slice),
      shape,
      readPageOrAll,
    ),
);

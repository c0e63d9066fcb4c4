import { createRoute, z } from "@hono/zod-openapi";

import { findUserKey, listUserKeys } from "../../domain/people/keys/list-ssh-keys.ts";
import { addUserKey, removeUserKey } from "../../domain/people/keys/ssh-keys.ts";
import { PublicKey, toPublicKey } from "../../shapes/keys/public-key.ts";
import { empty, refusals, json, page } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atAccount } from "../guards/account.ts";
import { signedIn } from "../guards/people.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalFlag, requiredText } from "../json-body.ts";
import { Paging, readPageOrAll } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { UserPath } from "../users/paths.ts";

export const publicKeys = endpoints();

const KeyPath = z.object({ id: PathId });
const KeyQuery = Paging.extend({
  fingerprint: z
    .string()
    .max(128)
    .default("")
    .openapi({ description: "Only the key with this fingerprint" }),
});

/** The body of a new SSH key. */
export const CreateKey = body({
  title: requiredText(255),
  key: requiredText(16_384),
  read_only: optionalFlag(),
}).openapi("CreateKeyOption");

publicKeys.openapi(
  createRoute({
    method: "get",
    path: "/user/keys",
    operationId: "userCurrentListKeys",
    tags: ["user"],
    summary: "List your SSH keys",
    middleware: [signedIn("read:user")] as const,
    request: { query: KeyQuery },
    responses: {
      200: page(z.array(PublicKey), "The SSH keys, oldest first"),
      ...refusals(401, 403),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, user }, slice) => listUserKeys(ctx, user, c.req.valid("query"), slice),
      (key, viewer) => toPublicKey(key, c.var.user, viewer),
      readPageOrAll,
    ),
);

publicKeys.openapi(
  createRoute({
    method: "post",
    path: "/user/keys",
    operationId: "userCurrentPostKey",
    tags: ["user"],
    summary: "Add an SSH key",
    middleware: [signedIn("write:user")] as const,
    request: { body: { required: true, ...json(CreateKey, "The key") } },
    responses: {
      201: json(PublicKey, "The new key"),
      ...refusals(401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const { title, key } = c.req.valid("json");
    return c.json(toPublicKey(await addUserKey(ctx, user, title, key), user, viewer), 201);
  },
);

publicKeys.openapi(
  createRoute({
    method: "get",
    path: "/user/keys/{id}",
    operationId: "userCurrentGetKey",
    tags: ["user"],
    summary: "Get one of your SSH keys",
    middleware: [signedIn("read:user")] as const,
    request: { params: KeyPath },
    responses: {
      200: json(PublicKey, "The key"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, user, viewer } = c.var;
    const { id } = c.req.valid("param");
    const key = await findUserKey(ctx, user, id);
    return c.json(toPublicKey(key, user, viewer), 200);
  },
);

publicKeys.openapi(
  createRoute({
    method: "delete",
    path: "/user/keys/{id}",
    operationId: "userCurrentDeleteKey",
    tags: ["user"],
    summary: "Remove one of your SSH keys",
    middleware: [signedIn("write:user")] as const,
    request: { params: KeyPath },
    responses: {
      204: empty("The key was removed"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) => done(c, ({ ctx, user }) => removeUserKey(ctx, user, c.req.valid("param").id)),
);

publicKeys.openapi(
  createRoute({
    method: "get",
    path: "/users/{username}/keys",
    operationId: "userListKeys",
    tags: ["user"],
    summary: "List a user's SSH keys",
    middleware: [atAccount("read:user", { allowsAnonymous: false })] as const,
    request: { params: UserPath, query: KeyQuery },
    responses: {
      200: page(z.array(PublicKey), "The SSH keys, oldest first"),
      ...refusals(401, 403, 404),
    },
  }),
  (c) =>
    answerPage(
      c,
      ({ ctx, account }, slice) => listUserKeys(ctx, account, c.req.valid("query"), slice),
      (key, viewer) => toPublicKey(key, c.var.account, viewer),
      readPageOrAll,
    ),
);

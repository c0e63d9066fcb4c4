import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { openServiceKey } from "../../domain/code/signatures/service-key.ts";
import { notFound } from "../../lib/failure.ts";
import { refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";

export const signingKeys = endpoints();

const publicKey = (description: string) => ({
  200: { description, content: { "text/plain": { schema: z.string() } } },
});
const OPENPGP = publicKey("The public key, armored");
/** The description of an SSH key's response. */
const SSH = "public key, as one line in OpenSSH format";

/**
 * The public key of the service's signing key.
 *
 * @throws Failure `not_found` if no signing key is configured, or one of the other format.
 */
async function readKey({ config: { signing }, now }: Ctx, format: "openpgp" | "ssh") {
  if (signing?.format !== format) throw notFound("no signing key");
  return (await openServiceKey(signing, now)).publicText;
}

signingKeys.openapi(
  createRoute({
    method: "get",
    path: "/signing-key.gpg",
    operationId: "getSigningKey",
    tags: ["miscellaneous"],
    summary: "Get the service's OpenPGP signing key",
    middleware: [anyone()] as const,
    responses: { ...OPENPGP, ...refusals(404) },
  }),
  async (c) => c.text(await readKey(c.var.ctx, "openpgp"), 200),
);

signingKeys.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/signing-key.gpg",
    operationId: "repoSigningKey",
    tags: ["repository"],
    summary: "Get a repository's OpenPGP signing key",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath },
    responses: { ...OPENPGP, ...refusals(401, 403, 404) },
  }),
  async (c) => c.text(await readKey(c.var.ctx, "openpgp"), 200),
);

// Gitea's clients request `.pub`; its alias `.ssh` is named after the key format, as `.gpg` is.
for (const [suffix, name] of [
  ["pub", "SSH"],
  ["ssh", "OpenSSH"],
] as const) {
  signingKeys.openapi(
    createRoute({
      method: "get",
      path: `/signing-key.${suffix}`,
      operationId: `getSigningKey${name}`,
      tags: ["miscellaneous"],
      summary: "Get the service's SSH signing key",
      middleware: [anyone()] as const,
      responses: { ...publicKey(`The ${SSH}`), ...refusals(404) },
    }),
    async (c) => c.text(await readKey(c.var.ctx, "ssh"), 200),
  );

  signingKeys.openapi(
    createRoute({
      method: "get",
      path: `/repos/{owner}/{repo}/signing-key.${suffix}`,
      operationId: `repoSigningKey${name}`,
      tags: ["repository"],
      summary: "Get a repository's SSH signing key",
      middleware: [inRepo("read:repository")] as const,
      request: { params: RepoPath },
      responses: { ...publicKey(`The repository's ${SSH}`), ...refusals(401, 403, 404) },
    }),
    async (c) => c.text(await readKey(c.var.ctx, "ssh"), 200),
  );
}

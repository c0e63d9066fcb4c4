import { createRoute, z } from "@hono/zod-openapi";

import { ACTION_VALUE_LIMITS } from "../../domain/actions/action-values.ts";
import { Secret, toSecret } from "../../shapes/actions/secret.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalText, requiredText } from "../json-body.ts";
import { Paging } from "../paging.ts";
import { SECRET_LEVELS } from "./levels.ts";

const loadVerbs = () => import("../../domain/actions/secrets/secrets.ts");

const SetSecret = body({
  data: requiredText(ACTION_VALUE_LIMITS.valueBytes).openapi({
    description: "The value; write-only",
  }),
  description: optionalText(ACTION_VALUE_LIMITS.descriptionChars),
}).openapi("CreateOrUpdateSecretOption");

/** Secrets of Actions. The list of one's own is an extension of Gitea's API. */
export const secrets = endpoints();

for (const { path, params, prefix, infix, tag, of, reading, writing } of SECRET_LEVELS) {
  const SecretPath = params.extend({
    secretname: z.string().openapi({ description: "The secret's name, in any case" }),
  });

  secrets.openapi(
    createRoute({
      method: "get",
      path: `${path}/secrets`,
      operationId: `${prefix}ListActionsSecrets`,
      tags: [tag],
      summary: `List the secrets ${of}, without their values`,
      middleware: [reading] as const,
      request: { params, query: Paging },
      responses: { 200: page(z.array(Secret), "The secrets, by name"), ...refusals(401, 403, 404) },
    }),
    (c) =>
      answerPage(
        c,
        async ({ ctx, actionsLevel }, slice) =>
          (await loadVerbs()).listSecrets(ctx, actionsLevel, slice),
        toSecret,
      ),
  );

  secrets.openapi(
    createRoute({
      method: "put",
      path: `${path}/secrets/{secretname}`,
      operationId: `update${infix}Secret`,
      tags: [tag],
      summary: `Create or update a secret ${of}`,
      description: "A description that is not sent stays.",
      middleware: [writing] as const,
      request: {
        params: SecretPath,
        body: { required: true, ...json(SetSecret, "The value") },
      },
      responses: {
        201: empty("The secret was created"),
        204: empty("The secret was updated"),
        ...refusals(400, 401, 403, 404, 422),
      },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const { data: value, description } = c.req.valid("json");
      const { secretname } = c.req.valid("param");
      const { setSecret } = await loadVerbs();
      const became = await setSecret(ctx, actionsLevel, secretname, { value, description });
      return c.body(null, became === "created" ? 201 : 204);
    },
  );

  secrets.openapi(
    createRoute({
      method: "delete",
      path: `${path}/secrets/{secretname}`,
      operationId: `delete${infix}Secret`,
      tags: [tag],
      summary: `Delete a secret ${of}`,
      middleware: [writing] as const,
      request: { params: SecretPath },
      responses: { 204: empty("The secret was deleted"), ...refusals(401, 403, 404) },
    }),
    (c) =>
      done(c, async ({ ctx, actionsLevel }) =>
        (await loadVerbs()).deleteSecret(ctx, actionsLevel, c.req.valid("param").secretname),
      ),
  );
}

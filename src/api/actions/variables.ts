import { createRoute, z } from "@hono/zod-openapi";

import { ACTION_VALUE_LIMITS } from "../../domain/actions/action-values.ts";
import { toVariable, Variable } from "../../shapes/actions/variable.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { answerPage, done } from "../handlers.ts";
import { body, optionalText, requiredText } from "../json-body.ts";
import { Paging } from "../paging.ts";
import { LEVELS } from "./levels.ts";

const loadVerbs = () => import("../../domain/actions/variables/variables.ts");

const { nameChars, descriptionChars, valueBytes } = ACTION_VALUE_LIMITS;
const FIELDS = { value: requiredText(valueBytes), description: optionalText(descriptionChars) };
const CreateVariable = body(FIELDS).openapi("CreateVariableOption");
const EditVariable = body({
  name: optionalText(nameChars).openapi({ description: "Another name; it stays if empty" }),
  ...FIELDS,
}).openapi("UpdateVariableOption");

/** Variables of Actions. Those of the service are an extension of Gitea's API. */
export const variables = endpoints();

for (const { path, params, infix, tag, of, reading, writing } of LEVELS) {
  const VariablePath = params.extend({
    variablename: z.string().openapi({ description: "The variable's name, in any case" }),
  });
  const onePath = `${path}/variables/{variablename}` as const;

  variables.openapi(
    createRoute({
      method: "get",
      path: `${path}/variables`,
      operationId: `get${infix}VariablesList`,
      tags: [tag],
      summary: `List the variables ${of}`,
      middleware: [reading] as const,
      request: { params, query: Paging },
      responses: {
        200: page(z.array(Variable), "The variables, by name"),
        ...refusals(401, 403, 404),
      },
    }),
    (c) =>
      answerPage(
        c,
        async ({ ctx, actionsLevel }, slice) =>
          (await loadVerbs()).listVariables(ctx, actionsLevel, slice),
        toVariable,
      ),
  );

  variables.openapi(
    createRoute({
      method: "get",
      path: onePath,
      operationId: `get${infix}Variable`,
      tags: [tag],
      summary: `Get a variable ${of}`,
      middleware: [reading] as const,
      request: { params: VariablePath },
      responses: { 200: json(Variable, "The variable"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const { variablename } = c.req.valid("param");
      const { findVariable } = await loadVerbs();
      return c.json(toVariable(await findVariable(ctx, actionsLevel, variablename)), 200);
    },
  );

  variables.openapi(
    createRoute({
      method: "post",
      path: onePath,
      operationId: `create${infix}Variable`,
      tags: [tag],
      summary: `Create a variable ${of}`,
      middleware: [writing] as const,
      request: {
        params: VariablePath,
        body: { required: true, ...json(CreateVariable, "The variable") },
      },
      responses: {
        201: empty("The variable was created"),
        ...refusals(400, 401, 403, 404, 409, 422),
      },
    }),
    async (c) => {
      const { ctx, actionsLevel } = c.var;
      const { variablename } = c.req.valid("param");
      const { createVariable } = await loadVerbs();
      await createVariable(ctx, actionsLevel, variablename, c.req.valid("json"));
      return c.body(null, 201);
    },
  );

  variables.openapi(
    createRoute({
      method: "put",
      path: onePath,
      operationId: `update${infix}Variable`,
      tags: [tag],
      summary: `Update a variable ${of}`,
      description: "A name and a description that are not sent stay.",
      middleware: [writing] as const,
      request: {
        params: VariablePath,
        body: { required: true, ...json(EditVariable, "The changes") },
      },
      responses: {
        204: empty("The variable was updated"),
        ...refusals(400, 401, 403, 404, 409, 422),
      },
    }),
    (c) =>
      done(c, async ({ ctx, actionsLevel }) => {
        const { editVariable } = await loadVerbs();
        const { name, ...changes } = c.req.valid("json");
        return editVariable(ctx, actionsLevel, c.req.valid("param").variablename, {
          ...changes,
          name: name || undefined,
        });
      }),
  );

  variables.openapi(
    createRoute({
      method: "delete",
      path: onePath,
      operationId: `delete${infix}Variable`,
      tags: [tag],
      summary: `Delete a variable ${of}`,
      middleware: [writing] as const,
      request: { params: VariablePath },
      responses: { 204: empty("The variable was deleted"), ...refusals(401, 403, 404) },
    }),
    (c) =>
      done(c, async ({ ctx, actionsLevel }) =>
        (await loadVerbs()).deleteVariable(ctx, actionsLevel, c.req.valid("param").variablename),
      ),
  );
}

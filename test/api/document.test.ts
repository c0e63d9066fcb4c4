import SwaggerParser from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";

import { toSwagger } from "../../scripts/build/swagger.ts";
import { describeApi } from "../../src/api/document.ts";

/** The operations that the API's contract names, by id. */
const CONTRACT: Readonly<Record<string, string>> = {
  renderMarkdown: "POST /markdown",
  renderMarkdownRaw: "POST /markdown/raw",
  createOrgRepo: "POST /org/{org}/repos",
  repoSearch: "GET /repos/search",
  userCurrentCheckSubscription: "GET /repos/{owner}/{repo}/subscription",
  userCurrentPutSubscription: "PUT /repos/{owner}/{repo}/subscription",
  userCurrentDeleteSubscription: "DELETE /repos/{owner}/{repo}/subscription",
  userGetCurrent: "GET /user",
  userCurrentListFollowers: "GET /user/followers",
  userCurrentListFollowing: "GET /user/following",
  userCurrentCheckFollowing: "GET /user/following/{username}",
  userCurrentPutFollow: "PUT /user/following/{username}",
  userCurrentDeleteFollow: "DELETE /user/following/{username}",
  userCurrentListGPGKeys: "GET /user/gpg_keys",
  userCurrentPostGPGKey: "POST /user/gpg_keys",
  userCurrentGetGPGKey: "GET /user/gpg_keys/{id}",
  userCurrentDeleteGPGKey: "DELETE /user/gpg_keys/{id}",
  userCurrentListKeys: "GET /user/keys",
  userCurrentPostKey: "POST /user/keys",
  userCurrentGetKey: "GET /user/keys/{id}",
  userCurrentDeleteKey: "DELETE /user/keys/{id}",
  userCurrentListRepos: "GET /user/repos",
  userCurrentListStarred: "GET /user/starred",
  userCurrentCheckStarring: "GET /user/starred/{owner}/{repo}",
  userCurrentPutStar: "PUT /user/starred/{owner}/{repo}",
  userCurrentDeleteStar: "DELETE /user/starred/{owner}/{repo}",
  userCurrentListSubscriptions: "GET /user/subscriptions",
  userListFollowers: "GET /users/{username}/followers",
  userSearch: "GET /users/search",
  userGet: "GET /users/{username}",
  userListFollowing: "GET /users/{username}/following",
  userCheckFollowing: "GET /users/{username}/following/{target}",
  userListGPGKeys: "GET /users/{username}/gpg_keys",
  userListKeys: "GET /users/{username}/keys",
  userListRepos: "GET /users/{username}/repos",
  userListStarred: "GET /users/{username}/starred",
  userListSubscriptions: "GET /users/{username}/subscriptions",
  userGetTokens: "GET /users/{username}/tokens",
  getVersion: "GET /version",
};

const description = JSON.parse(JSON.stringify(describeApi()));

describe("the interface description", () => {
  it("has the version and the server of the contract", () => {
    expect(description).toMatchObject({
      info: { version: "1.1.1" },
      servers: [{ url: "/api/v1" }],
    });
  });

  it("names operations as the contract does", () => {
    const pathById = Object.entries<Record<string, { operationId: string }>>(
      description.paths,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]),
    );
    expect(Object.fromEntries(pathById)).toMatchObject(CONTRACT);
  });

  it("is the same each time it is built", () => {
    expect(JSON.parse(JSON.stringify(describeApi()))).toEqual(description);
  });

  // A null in `allOf` beside a reference is refused by the referenced schema.
  it("lets null pass where a reference is nullable", () => {
    const schemas = description.components.schemas;
    expect(schemas.Commit.properties.author).toMatchObject({
      oneOf: [{ $ref: "#/components/schemas/User" }, { type: "null" }],
    });
    const allOfs = [
      ...JSON.stringify(description).matchAll(/"allOf":\[\{"\$ref":"[^"]*"\},[^\]]*/g),
    ];
    expect(
      allOfs.filter(([text]) => text.includes('"null"') && !text.includes("properties")),
    ).toEqual([]);
    expect(allOfs).not.toEqual([]);
  });
});

describe.each([
  ["OpenAPI 3.1", description],
  ["Swagger 2.0", toSwagger(description)],
])("the interface description in %s", (_, document) => {
  it("is valid by the schema of the specification", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it("is valid by the rules of the specification", async () => {
    await expect(SwaggerParser.validate(structuredClone(document))).resolves.toBeDefined();
  });
});

describe("the interface description in Swagger 2.0", () => {
  const swagger = toSwagger(description) as typeof description;

  it("has every operation, with every response", () => {
    const responsesIn = (document: typeof description) =>
      Object.entries<Record<string, { operationId: string; responses: object }>>(
        document.paths,
      ).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, responses }]) => [
          operationId,
          method,
          path,
          Object.keys(responses),
        ]),
      );
    expect(responsesIn(swagger)).toEqual(responsesIn(description));
    expect(Object.keys(swagger.definitions)).toEqual(Object.keys(description.components.schemas));
  });

  it("marks nullable values, and keeps media types and enumerations", () => {
    expect(swagger.definitions.Commit.properties.author).toEqual({
      description: "Null if no account has the address",
      allOf: [{ $ref: "#/definitions/User" }],
      "x-nullable": true,
    });
    expect(swagger.definitions.HookDelivery.properties.response_status).toMatchObject({
      type: "integer",
      "x-nullable": true,
    });
    expect(swagger.definitions.CommitStatus.properties.status).toMatchObject({
      type: "string",
      enum: expect.arrayContaining(["success"]),
    });
    expect(swagger.paths["/markdown/raw"].post).toMatchObject({
      consumes: ["text/plain"],
      produces: expect.arrayContaining(["text/html"]),
    });
    expect(JSON.stringify(swagger)).not.toMatch(/"nullable"|"null"/);
  });
});

import SwaggerParser from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";

import { toSwagger } from "../../scripts/build/swagger.ts";
import { describeApi } from "../../src/api/document.ts";
import { FIELDS, OPERATIONS, ROUTES } from "../support/contract.ts";

/** A part of a document, in which each property is taken to be there. */
type Json = ReturnType<typeof JSON.parse>;

/** A bound of the served bytes, which clients and the viewer read as a whole. */
const DOCUMENT_BYTES_MAX = 900_000;

const description = JSON.parse(JSON.stringify(describeApi()));
const swagger: Json = toSwagger(description);

/** What a reference refers to; what is no reference, itself. */
const resolve = (document: Json, value: Json): Json =>
  "$ref" in value ? find(document, value.$ref) : value;

const find = (document: Json, reference: string): Json =>
  reference
    .split("/")
    .slice(1)
    .reduce((part: Json, name) => part?.[name], document);

/** Every operation, with its method and path. */
const operationsOf = ({ paths }: Json): Json[] =>
  Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) =>
      Object.assign({ route: `${method.toUpperCase()} ${path}` }, operation),
    ),
  );

const successesOf = (document: Json, responses: Json = {}): [string, Json][] =>
  Object.entries<Json>(responses)
    .filter(([status]) => status < "300")
    .map(([status, response]) => [status, resolve(document, response)]);

/** The shape of a response's JSON, an array with brackets; or its other content type. */
const bodyNames = ({ content = {} }: Json): string[] =>
  Object.entries<Json>(content).map(([type, { schema }]) => {
    const [reference, suffix] = schema.items ? [schema.items.$ref, "[]"] : [schema.$ref, ""];
    return reference ? `${reference.split("/").at(-1)}${suffix}` : type;
  });

/**
 * The names of an operation's query parameters, of its JSON body's fields, and its content types.
 */
function inputNames(document: Json, { parameters = [], requestBody = {} }: Json): string[] {
  const content: Json = requestBody.content ?? {};
  const json = content["application/json"]?.schema ?? {};
  return [
    ...parameters.map((each: Json) => resolve(document, each).name),
    ...Object.keys(content),
    ...Object.keys(resolve(document, json).properties ?? {}),
  ];
}

const queryAndPath = ({ parameters = [] }: Json): Json[] =>
  parameters.filter((each: Json) => "$ref" in each || /^(?:path|query)$/.test(each.in));

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "$ref" in value ? [String(value.$ref)] : [];
  return own.concat(Object.values(value).flatMap(referencesIn));
}

describe("the interface description", () => {
  it("has the version and the server of the contract", () => {
    expect(description).toMatchObject({
      info: { version: "1.1.1" },
      servers: [{ url: "/api/v1" }],
    });
  });

  it.each(Object.entries(OPERATIONS))("describes %s as the contract does", (id, expected) => {
    const found = operationsOf(description).find(({ operationId }) => operationId === id);
    const [[status, response] = ["", {}]] = successesOf(description, found?.responses);
    expect(found?.route).toBe(expected.route);
    expect([status, ...bodyNames(response)].join(" ")).toBe(expected.success);
    expect(inputNames(description, found ?? {})).toEqual(
      expect.arrayContaining([...(expected.input ?? [])]),
    );
  });

  it("has the other routes of the contract", () => {
    const routes = operationsOf(description).map(({ route }) => route);
    expect(routes).toEqual(expect.arrayContaining([...ROUTES]));
  });

  it.each(Object.entries(FIELDS))(
    "has the fields of %s that the contract names",
    (name, fields) => {
      const { properties } = description.components.schemas[name];
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...fields]));
    },
  );

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
  ["Swagger 2.0", swagger],
])("the interface description in %s", (_, document) => {
  const { responses, parameters } = document.components ?? document;

  it(`is served in ${DOCUMENT_BYTES_MAX} bytes`, () => {
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(DOCUMENT_BYTES_MAX);
  });

  it("has what each reference refers to", () => {
    const references = new Set(referencesIn(document));
    expect(references.size).toBeGreaterThan(100);
    for (const reference of references) expect(find(document, reference)).toBeTypeOf("object");
  });

  it.each([
    ["response", responses, (each: Json) => Object.values(each.responses)],
    ["parameter", parameters, queryAndPath],
  ])("writes no %s twice, and refers to each shared one", (kind, shared, list) => {
    const used = operationsOf(document).flatMap((each) => list(each));
    const written = used.filter((each) => !("$ref" in each)).concat(Object.values(shared));
    const texts = written.map((each) => JSON.stringify(each));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);

    const counts = Map.groupBy(
      used.filter((each) => "$ref" in each),
      ({ $ref }) => $ref.split("/").at(-1),
    );
    expect(new Set(counts.keys())).toEqual(new Set(Object.keys(shared)));
    for (const [name, { length }] of counts) expect(length, `${kind} ${name}`).toBeGreaterThan(1);
  });

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

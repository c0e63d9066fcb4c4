/**
 * `node scripts/openapi.ts <directory>`: writes the interface description from the routes in
 * src/api, as openapi.json and, for older generators, as swagger.v1.json.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describeApi } from "../src/api/document.ts";
import { toSwagger } from "./build/swagger.ts";

const [, , directory = "."] = process.argv;
const document = JSON.stringify(describeApi());
await writeFile(join(directory, "openapi.json"), document);
const swagger = toSwagger(JSON.parse(document));
await writeFile(join(directory, "swagger.v1.json"), JSON.stringify(swagger));

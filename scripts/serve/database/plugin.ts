import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { type Plugin, ProxyNodeBinding } from "miniflare";

import { readLocalModule } from "../../build/local-bindings.ts";
import { PLUGIN, TYPE } from "./bindings.ts";

const MODULE = "edgeforge:local-database";
const OBJECT = { className: "LocalDatabase", serviceName: PLUGIN };
const STORAGE = `${PLUGIN}:storage`;

/** Miniflare's own, of its simulator of D1. */
const SIMULATOR = { directory: "d1", uniqueKey: "miniflare-D1DatabaseObject" };

const namesOf = ({ config }: Parameters<Plugin["getNodeBindings"]>[0]): string[] =>
  Object.entries(config.env ?? {}).flatMap(([name, { type }]) =>
    type === `unsafe:${TYPE}` ? [name] : [],
  );

const plugin: Plugin = {
  bindingTypeDescription: "local database",
  getBindings: (options) =>
    namesOf(options).map((name) => ({
      name,
      wrapped: {
        moduleName: MODULE,
        innerBindings: [
          { name: "databases", durableObjectNamespace: OBJECT },
          { name: "name", text: name },
        ],
      },
    })),
  getNodeBindings: (options) =>
    Object.fromEntries(namesOf(options).map((name) => [name, new ProxyNodeBinding()])),
  getExtensions: () => [
    { modules: [{ name: MODULE, esModule: readLocalModule("database/binding"), internal: true }] },
  ],
  getServices: async ({ options, tmpPath, sharedOptions }) => {
    if (namesOf(options).length === 0) return undefined;
    const path = join(sharedOptions.resourcePersistencePath ?? tmpPath, SIMULATOR.directory);
    await mkdir(path, { recursive: true });
    return [
      { name: STORAGE, disk: { path, writable: true } },
      {
        name: OBJECT.serviceName,
        worker: {
          compatibilityDate: "2026-10-20",
          modules: [{ name: "object.js", esModule: readLocalModule("database/object") }],
          // The simulator's path of the file: it has the same name, and the same SQLite.
          durableObjectNamespaces: [
            {
              className: OBJECT.className,
              uniqueKey: SIMULATOR.uniqueKey,
              enableSql: true,
              preventEviction: true,
            },
          ],
          durableObjectStorage: { localDisk: STORAGE },
        },
      },
    ];
  },
};

/** Read by Miniflare. */
export const plugins = { [PLUGIN]: plugin };

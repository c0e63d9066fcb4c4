export * from "./accounts.ts";
export * from "./events.ts";
export * from "./facts.ts";
export * from "./keys.ts";
export * from "./lfs.ts";
export * from "./organizations.ts";
export * from "./repositories.ts";
export * from "./tokens.ts";

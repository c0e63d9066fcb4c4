// How drizzle-kit turns the schema into migrations; scripts/check/migrations.ts reads it as well.
export default {
  dialect: "sqlite",
  schema: "src/db/schema/index.ts",
  out: "migrations",
  casing: "snake_case",
} as const;

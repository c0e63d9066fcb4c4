import { Column, getTableName, is, SQL, Subquery } from "drizzle-orm";

/**
 * The selected columns of a query, in the order of its rows' values, with the path of each in the
 * mapped row.
 */
export type SelectedFields = readonly {
  readonly path: readonly string[];
  readonly field: unknown;
}[];

/** Maps rows of values to the rows that a query's type promises. */
export type MapRows = (rows: readonly (readonly unknown[])[]) => unknown[];

/** Decodes a value of the database, which is not null. */
export type Decode = (value: unknown) => unknown;
interface Decoder {
  mapFromDriverValue: Decode;
}

/** A value of a row, or an object of values. */
type Node =
  | { key: string; at: number; decode: Decode | undefined }
  | {
      key: string;
      nodes: Node[];
      /** The key whose null makes the object null: a join found no row. */
      nullKey?: string | undefined;
    };

/** The decoders of Drizzle's columns and SQL that decode nothing. */
const NOT_DECODING: ReadonlySet<unknown> = new Set([
  (Column.prototype as unknown as Decoder).mapFromDriverValue,
  (new SQL([]) as unknown as { decoder: Decoder }).decoder.mapFromDriverValue,
]);

/**
 * Drizzle's `mapResultRow` with everything decided beforehand that does not depend on the row:
 * which decoder a column has, and which objects a join may leave out.
 *
 * @param notNullable By the name of each table of the query, whether its rows are always there.
 */
export function rowMapper(
  fields: SelectedFields,
  notNullable: Readonly<Record<string, boolean>> | undefined,
): MapRows {
  const nodes = toNodes(fields.map(({ path, field }, at) => ({ path, field, at })));
  if (notNullable) {
    for (const node of nodes) {
      if ("nodes" in node) node.nullKey = nullKeyOf(node.key, fields, notNullable);
    }
  }
  return (rows) => rows.map((row) => toObject(nodes, row));
}

function toNodes(
  fields: readonly { path: readonly string[]; field: unknown; at: number }[],
): Node[] {
  const byKey = Map.groupBy(fields, ({ path }) => path[0] ?? "");
  return [...byKey].map(([key, group]): Node => {
    const leaf = group.findLast(({ path }) => path.length === 1);
    if (leaf) return { key, at: leaf.at, decode: decodeOf(leaf.field) };
    return { key, nodes: toNodes(group.map((each) => ({ ...each, path: each.path.slice(1) }))) };
  });
}

/**
 * The first column of an object decides, as in Drizzle, if all columns of the object are of one
 * table that may be absent.
 */
function nullKeyOf(
  key: string,
  fields: SelectedFields,
  notNullable: Readonly<Record<string, boolean>>,
): string | undefined {
  const columns = fields.flatMap(({ path: [name, column, ...deeper], field }) =>
    name === key && column !== undefined && deeper.length === 0 && is(field, Column)
      ? [{ column, table: getTableName(field.table) }]
      : [],
  );
  const [first] = columns;
  if (!first || columns.some(({ table }) => table !== first.table)) return undefined;
  return notNullable[first.table] ? undefined : first.column;
}

/** How the values of a selected column are decoded; undefined if they are as they are. */
export function decodeOf(field: unknown): Decode | undefined {
  const decoder = decoderOf(field);
  const decode = decoder.mapFromDriverValue;
  return NOT_DECODING.has(decode) ? undefined : (value) => decoder.mapFromDriverValue(value);
}

function decoderOf(field: unknown): Decoder {
  if (is(field, Column)) return field;
  if (is(field, SQL)) return (field as unknown as { decoder: Decoder }).decoder;
  if (is(field, Subquery)) return (field._.sql as unknown as { decoder: Decoder }).decoder;
  return (field as { sql: { decoder: Decoder } }).sql.decoder;
}

function toObject(nodes: readonly Node[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const node of nodes) {
    if ("nodes" in node) {
      const inner = toObject(node.nodes, row);
      const isAbsent = node.nullKey !== undefined && inner[node.nullKey] === null;
      object[node.key] = isAbsent ? null : inner;
    } else {
      const value = row[node.at];
      object[node.key] = value === null || !node.decode ? value : node.decode(value);
    }
  }
  return object;
}

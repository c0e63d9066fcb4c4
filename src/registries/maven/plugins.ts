import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageProperties, packages } from "../../db/schema/index.ts";
import type { PackageOwner } from "../../domain/packages/package/find-package.ts";
import type { RegistryView } from "../../domain/packages/package/find-registry.ts";
import { malformed } from "../../lib/failure.ts";
import { parsePlugins, type PluginEntry } from "./parse-pom.ts";
import { packageNameOf } from "./paths.ts";

// Maven finds a plugin by the prefix of its goals in the metadata of its group, which the client
// that publishes it sends.

/** The property of a package that holds its prefix and name as a plugin, in JSON. */
const PROPERTY = "maven.plugin";

const PLUGINS_MAX = 500;
const PREFIX = /^[A-Za-z0-9_.-]{1,100}$/;
const NAME_CHARS_MAX = 255;

/** A plugin with its package. */
type PluginRow = Awaited<ReturnType<typeof selectPlugins>>[number];

/** The packages of a group: a range of names, without its ends. */
interface Group {
  readonly ownerId: number;
  readonly from: string;
  readonly to: string;
}

/** The names that begin with the group and a colon. */
export const toGroup = ({ account }: PackageOwner, group: string): Group => ({
  ownerId: account.id,
  from: `${group}:`,
  to: `${group};`,
});

/** Selects the plugins of a group. */
export const selectPlugins = prepare((db, p: Params<Group>) =>
  db
    .select({
      value: packageProperties.value,
      pkg: columnsOf(packages, "p"),
    })
    .from(packages)
    .innerJoin(
      packageProperties,
      and(eq(packageProperties.packageId, packages.id), eq(packageProperties.name, PROPERTY)),
    )
    .where(
      and(
        eq(packages.ownerId, p.ownerId),
        eq(packages.type, "maven"),
        sql`${packages.nameKey} > ${p.from}`,
        sql`${packages.nameKey} < ${p.to}`,
      ),
    )
    .orderBy(packages.nameKey),
);

export function toPluginEntry({ value, pkg }: PluginRow): PluginEntry {
  const { name, prefix } = JSON.parse(value) as Pick<PluginEntry, "name" | "prefix">;
  return { name, prefix, artifactId: pkg.name.slice(pkg.name.indexOf(":") + 1) };
}

/**
 * Stores the plugins of a group's metadata that are published here.
 *
 * @throws Failure `malformed` for anything else than metadata.
 */
export async function keepPlugins(
  { db }: Ctx,
  { account }: PackageOwner,
  sees: RegistryView["sees"],
  groupId: string,
  content: Uint8Array,
): Promise<void> {
  const plugins = await parsePlugins(content);
  if (!plugins) throw malformed("the file is not the metadata of a repository");
  if (plugins.length > PLUGINS_MAX) throw malformed(`the group has over ${PLUGINS_MAX} plugins`);
  const values = new Map(
    plugins
      .filter(({ prefix }) => PREFIX.test(prefix))
      .map(({ artifactId, name, prefix }) => [
        packageNameOf({ groupId, artifactId }),
        JSON.stringify({ name: name.slice(0, NAME_CHARS_MAX), prefix }),
      ]),
  );
  if (values.size === 0) return;
  const names = JSON.stringify([...values.keys()]);
  const known = await db
    .select({
      pkg: columnsOf(packages, "p"),
      value: packageProperties.value,
    })
    .from(packages)
    .leftJoin(
      packageProperties,
      and(eq(packageProperties.packageId, packages.id), eq(packageProperties.name, PROPERTY)),
    )
    .where(
      and(
        eq(packages.ownerId, account.id),
        eq(packages.type, "maven"),
        sql`${packages.nameKey} in (select value from json_each(${names}))`,
      ),
    );
  const changed = known.filter(({ pkg, value }) => sees(pkg) && value !== values.get(pkg.name));
  const [first, ...rest] = changed.flatMap(({ pkg: { id, name } }): BatchItem<"sqlite">[] => [
    db
      .delete(packageProperties)
      .where(and(eq(packageProperties.packageId, id), eq(packageProperties.name, PROPERTY))),
    db
      .insert(packageProperties)
      .values({ packageId: id, name: PROPERTY, value: values.get(name) ?? "" }),
  ]);
  if (first) await db.batch([first, ...rest]);
}

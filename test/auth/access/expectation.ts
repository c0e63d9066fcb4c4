import { UNITS, type Mode, type Unit } from "../../../src/db/schema/index.ts";

// The expected permissions, written by hand: nothing here is derived from the code under test.

/**
 * The grants of each role in a private repository of an organization with all units enabled. In a
 * user's repository, roles in organizations grant nothing.
 *
 * Each repository is offered to an organization, the recipient: who may create repositories there
 * may accept, and read. Each owner blocks some users, who see what strangers see.
 */
export const GRANTS = readTable<Row>(`
  role                              | repository | code  issues ext_issues pulls releases wiki  ext_wiki projects packages actions
  stranger                          | -          | -     -      -          -     -        -     -        -        -        -
  owner                             | owner      | owner owner  owner      owner owner    owner owner    owner    owner    owner
  collaborator who reads            | read       | read  read   read       read  read     read  read     read     read     read
  collaborator who writes           | write      | write write  write      write write    write write    write    write    write
  collaborator who administers      | admin      | admin admin  admin      admin admin    admin admin    admin    admin    admin
  member without a team             | -          | -     -      -          -     -        -     -        -        -        -
  organization owner                | owner      | owner owner  owner      owner owner    owner owner    owner    owner    owner
  team that administers             | owner      | owner owner  owner      owner owner    owner owner    owner    owner    owner
  team that administers another     | -          | -     -      -          -     -        -     -        -        -        -
  team that reads                   | read       | read  read   read       read  read     read  read     read     read     read
  team that writes                  | read       | write write  write      write write    write write    write    write    write
  team of mixed units               | read       | read  write  -          -     owner    admin -        -        -        -
  team of mixed units, for this     | read       | read  write  -          -     owner    admin -        -        -        -
  team of mixed units, for another  | -          | -     -      -          -     -        -     -        -        -        -
  team that gives nothing           | -          | -     -      -          -     -        -     -        -        -        -
  two teams                         | read       | write write  -          read  owner    admin -        -        -        write
  two teams, one for another        | read       | read  write  -          -     owner    admin -        -        -        -
  creator in the recipient          | read       | read  read   read       read  read     read  read     read     read     read
  member of the recipient           | -          | -     -      -          -     -        -     -        -        -        -
  blocked by the owner              | -          | -     -      -          -     -        -     -        -        -        -
  mixed team and collaborator       | read       | read  write  read       read  owner    admin read     read     read     read
`);

/** A mode for the repository itself and for each unit. */
export type Row = Record<"repository" | Unit, Mode>;
export const COLUMNS = ["repository", ...UNITS] as const;
export type Column = (typeof COLUMNS)[number];

/** Who may read all enabled units of a repository without a grant. */
export const READABLE_WITHOUT_GRANT = readTable<Record<Reader, "yes" | "no">>(`
  repository                   | anonymous plain restricted | member restricted_member
  public of a public owner     | yes       yes   no         | yes    yes
  public of a limited owner    | no        yes   no         | yes    yes
  public of a private owner    | no        no    no         | yes    yes
  private of a public owner    | no        no    no         | no     no
  private of a limited owner   | no        no    no         | no     no
  private of a private owner   | no        no    no         | no     no
`);
export type Reader = "anonymous" | "plain" | "restricted" | "member" | "restricted_member";

/**
 * Which repositories a credential reaches, whatever its user was granted. Only a full credential
 * has site-admin rights.
 */
export const REACH = readTable<Record<CredentialKind, "yes" | "no">>(`
  repository                   | none full public_only bound_to_it bound_elsewhere
  public of a public owner     | yes  yes  yes         yes         no
  public of a limited owner    | no   yes  no          yes         no
  public of a private owner    | no   yes  no          yes         no
  private of a public owner    | no   yes  no          yes         no
  private of a limited owner   | no   yes  no          yes         no
  private of a private owner   | no   yes  no          yes         no
`);
export type CredentialKind = "none" | "full" | "public_only" | "bound_to_it" | "bound_elsewhere";

/** Which units are enabled, by the name of a configuration. */
export const SWITCHED = readTable<Record<Unit, "on" | "off">>(`
  repository                   | code issues ext_issues pulls releases wiki ext_wiki projects packages actions
  all on                       | on   on     off        on    on       on   off      on       on       on
  no code, no pulls            | off  on     off        off   on       on   off      on       on       on
  only code                    | on   off    off        off   off      off  off      off      off      off
  tracker and wiki elsewhere   | on   off    on         on    on       off  on       on       on       on
  wiki off, with an address    | on   on     off        on    on       off  off      on       on       on
`);

/** Parses a table of words: a name, then a column for each word of the first line. */
function readTable<T>(text: string): ReadonlyMap<string, T> {
  const [head, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", ...rest] = line.split("|");
      return { name: name.trim(), words: rest.join(" ").trim().split(/\s+/) };
    });
  return new Map(
    lines.map(({ name, words }) => {
      if (words.length !== head?.words.length) throw new Error(`${name} has not every column`);
      const cells = words.map((word, index) => [head.words[index], word === "-" ? "none" : word]);
      return [name, Object.fromEntries(cells) as T];
    }),
  );
}

// Installs Debian's PgBouncer unless it is there: a test has one of its own between gateways and PostgreSQL.
import { needPackage } from "./debian-package.mjs";

needPackage("pgbouncer", ["pgbouncer", "--version"]);

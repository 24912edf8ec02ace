/** Rules for passwords that are recognized by their program's options, or by the fields next to them. */
import { isRealPassword, type SecretRule } from "./secret-rule.ts";

/** The option by which a program takes its password, after other words of the same command. */
function argument(
  programs: string,
  option: string,
  examples: SecretRule["examples"],
): Pick<SecretRule, "kind" | "anchor" | "shape" | "check" | "examples"> {
  const password = "[\"']?(?<secret>[^\\s\"'`\\\\;|)]{4,128})(?=$|[\\s\"'`\\\\;|)])";
  const shape = new RegExp(`(?:${programs})[^\\n;|]{0,200}?[ \\t]${option}${password}`, "my");
  return { kind: "command-password", anchor: programs, shape, check: isMixed, examples };
}

/** An example word or a name has neither digits nor special characters. */
function isMixed(text: string): boolean {
  return isRealPassword(text) && /[A-Za-z]/.test(text) && /[\d!@#^~*?&=]/.test(text);
}

export const argumentRules: readonly SecretRule[] = [
  argument("curl(?= )|wget(?= )", "(?:-u|--user)[ =][\"']?[^\\s:\"'$]{1,64}:", {
    secret: [
      "curl -s -u deploy:~Zx9kQ2mN8s https://x.internal/api",
      "curl --user 'deploy:~Zx9kQ2mN8s' https://x.internal/api?a=1&b=2",
      "curl 'https://x.internal/api?a=1&b=2' -u deploy:~Zx9kQ2mN8s",
    ],
    harmless: [
      "curl -u user:password https://example.com",
      "curl -u $USER:$TOKEN1 https://x.internal",
      "curl -u deploy https://x.internal:8443/a1",
      "curl https://x.internal/a; run -u deploy:stage1",
    ],
  }),
  argument("mysql|mariadb", "-p", {
    secret: ["/usr/bin/mysql -h db -u root -p~Zx9kQ2mN8s app", "mysqldump -u app -p'~Zx9kQ2mN8s' app"],
    harmless: ["mysql -u root -p app1", "mysql -u root -proot", "mysql --protocol=tcp1 --port 3306"],
  }),
  argument("sshpass(?= )", "-p ?", {
    secret: ["sshpass -p '~Zx9kQ2mN8s' ssh me@host", "sshpass -p~Zx9kQ2mN8s ssh me@host"],
    harmless: ["sshpass -f file1 ssh me@host", "sshpass -p $PASS1 ssh me@host"],
  }),
  argument("redis-cli(?= )", "(?:-a|--pass) ", {
    secret: ["redis-cli -h cache -a ~Zx9kQ2mN8s ping"],
    harmless: ["redis-cli -h cache1 ping", "redis-cli -a password ping"],
  }),
  argument("(?:docker|podman|helm registry) login(?= )", "(?:-p|--password)[ =]", {
    secret: ["docker login -u me -p ~Zx9kQ2mN8s ghcr.io"],
    harmless: ["docker login ghcr.io -u me --password-stdin1", "docker run -p 8080:80 app1"],
  }),
  {
    kind: "connection-password",
    anchor: "; ?(?:[Pp]assword|[Pp]wd|PASSWORD|PWD) ?=",
    // After another field of a connection string, as ADO.NET and ODBC write it.
    shape:
      /(?<=\b(?:server|data source|host|port|database|initial catalog|user(?: id|name)?|uid) ?=[^;\n"']{1,128}); ?(?:password|pwd) ?=(?<secret>[^;\s"'`\\]{4,128})(?=;|$|[\s"'`\\])/imy,
    check: isMixed,
    inWord: true,
    examples: {
      secret: [
        "Server=db;Database=app;User Id=sa;Password=~Zx9kQ2;Encrypt=true",
        "Host=db;Port=5432; pwd=~tr0ub4dor;",
      ],
      harmless: [
        "Server=db;User Id=sa;Password=password;",
        "this.user=e;this.password=x1y2;",
        "a.b=c;password=getKey1;",
      ],
    },
  },
];

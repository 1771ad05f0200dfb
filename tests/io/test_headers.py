"""First lines: names, samples, or an ambiguity that only the user can resolve."""

import pandas as pd
import pytest

from kreinlearn import io as files
from kreinlearn.io import table_blocks
from kreinlearn.pipelines import prepare

YEARS = "A,1,2,x\nB,2,3,y\nC,3,4,x\nD,5,2,y\n"
CENSUS = "39,gov,13,Cuba,<50\n50,own,13,US,<50\n38,gov,9,US,>50\n53,gov,7,US,<50\n"
NAMED = {
    "years": "country,2019,2020,outcome\n" + YEARS,
    "one year, numeric labels": "country,2019,kind\nA,1,0\nB,2,1\nC,3,1\n",
    "years apart": "country,2019,2021,outcome\n" + YEARS,
    "positions among them": "0,1,2,label\n0,1,2,a\n1,1,2,a\n0,0,5,b\n1,1,2,b\n",
    "wavelengths": "400.5,401,402.5,kind\n.1,.2,.3,a\n.3,.1,.2,b\n1,2,3,a\n2,3,1,b\n",
    "words only": "red,big,a\nblue,small,b\nred,small,a\n",
}
NAMELESS = {
    "numbers only": "1,2,0\n3,4,1\n2,2,0\n",
    "words that repeat": CENSUS,
    "flowers": "5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,3.4,virginica\n5.9,3,virginica\n",
    "too few to tell": "1,2,a\n3,4,b\n",
    "missing": "1,?,a\n2,3,b\n3,4,b\n1,3,c\n2,3,c\n",
    "numbers below": "1,0,rare\n0,1,a\n1,1,a\n0,0,b\n1,0,b\n",
}
OPEN = {
    "slip among numbers": "5,abc,1\n4,7,0\n3,8,1\n9,6,0\n",
    "rare class": "5.1,3.5,rare\n4.9,3.0,a\n6.2,3.4,a\n5.9,3,b\n5.8,3,b\n",
}


def write(folder, content, name="t.csv"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("case", [*NAMED, *NAMELESS])
def test_rows_below_decide_about_the_first_line(tmp_path, case):
    content = (NAMED | NAMELESS)[case]
    path, n_lines = write(tmp_path, content), content.count("\n")
    table = files.read(path, labels=False)
    assert table.record.header == (case in NAMED)
    assert len(table.X) == n_lines - table.record.header
    if case in NAMED:
        assert list(table.X) == content.split("\n")[0].split(",")
        assert table_blocks(path).record.columns == list(table.X)[:-1]


@pytest.mark.parametrize("case", OPEN)
def test_ambiguous_headers_need_an_option(tmp_path, case):
    path = write(tmp_path, OPEN[case])
    with pytest.raises(ValueError, match=r"t\.csv: the first .* --header or --no-he"):
        files.read(path)
    assert files.read(path, header=True, labels=False).record.header
    assert len(files.read(path, header=False, labels=False).X) == OPEN[case].count("\n")


def test_lines_of_series_have_the_same_rule(tmp_path):
    path = write(tmp_path, "kind,1,2\na,.5,.25\nb,1,2\na,3\nb,4\n")
    series, y = files.read_ucr(path)
    assert len(series) == 4 and y.tolist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    "content", ["a\tb\ty\n1\t2\tx\n3\t4\ty\n", "a, c\tb\ty\n1\t2\tx\n3\t4\ty\n"]
)
def test_tabs_in_csv(tmp_path, content):
    path = write(tmp_path, content)
    table = files.read(path)
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == ["x", "y"] and table_blocks(path).n_rows == 2


@pytest.mark.parametrize(
    "content",
    [
        "len;kind\n5,8;a\n4,3;b\n5,1;a\n",
        "5,8;1,2;3\n4,3;2,2;4\n",
        'len,kind\n"5,8",a\n"4",b\n',
        "len\tkind\n5,8\ta\n4,3\tb\n",
        "len;kind\n1.005,8;a\n4,3;b\n",
    ],
)
def test_decimal_commas_get_one_sentence(tmp_path, content):
    path = write(tmp_path, content)
    words = r"t\.csv: a number with a decimal point was expected, got '.*5,8' in line"
    with pytest.raises(ValueError, match=words + r" .* --decimal , or write \d*5\.8\."):
        files.read(path, labels=False)
    if "kind" in content:
        with pytest.raises(ValueError, match=words):
            table_blocks(path)


def test_text_with_commas_is_text(tmp_path):
    path = write(tmp_path, 'town;kind\n"Bath, UK";a\nUlm;b\n5,8;a\nRome;b\n')
    assert files.read(path).X["town"].tolist()[0] == "Bath, UK"


@pytest.mark.parametrize("one_hot", [True, False])
def test_names_and_dates_are_not_encoded(one_hot):
    days = pd.date_range("2020-01-01", periods=100).strftime("%Y-%m-%d").astype(object)
    X = pd.DataFrame({"day": days, "size": range(100, 0, -1)})
    X.attrs["path"] = "t.csv"
    words = r"t\.csv: column 'day' holds dates such as '2020-01-01'; leave them out"
    with pytest.raises(ValueError, match=words) as raised:
        prepare(X, one_hot=one_hot)
    assert "--one-hot" not in str(raised.value)  # dates that do not repeat
    names = X.assign(day=[f"n{i}" for i in range(100)])
    words = r"t\.csv: column 'day' .* 100 different values in 100 rows, .*'n0';"
    with pytest.raises(ValueError, match=words + " remove the column"):
        prepare(names, one_hot=one_hot)
    X["day"] = [days[i // 5] for i in range(100)]
    if not one_hot:
        with pytest.raises(ValueError, match="as a category, use .*--one-hot"):
            prepare(X)
    X["day"] = [day[:7] for day in days]  # months repeat
    if one_hot:
        assert prepare(X, one_hot=True).fit_transform(X).shape == (100, 5)

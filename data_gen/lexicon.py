"""Words with known neighbours: handles by which a text is changed."""

from __future__ import annotations

from typing import Final

CLASSES: Final = (
    "第一/第二/第三/第四", "春季/夏季/秋季/冬季", "春天/夏天/秋天/冬天", "向东/向南/向西/向北",
    "一月/二月/三月/四月/五月/六月/七月/八月/九月/十月/十一月/十二月",
    "星期一/星期二/星期三/星期四/星期五/星期六/星期日", "红色/蓝色/绿色/黄色/紫色/白色/黑色",
    "锐角/直角/钝角", "固态/液态/气态", "亚洲/欧洲/非洲/南极洲/大洋洲",
    "蒸发/沸腾/升华/凝华/液化/凝固",
    "渤海/黄海/东海/南海", "光的折射/光的反射/光的色散/光的直线传播", "长江/黄河/珠江/淮河",
    "蒸腾作用/光合作用/呼吸作用/渗透作用", "太平洋/大西洋/印度洋/北冰洋", "动能/势能/内能/化学能",
    "秦始皇/汉武帝/唐太宗/宋太祖/康熙帝", "唐朝/宋朝/元朝/明朝/清朝", "李白/杜甫/白居易/王维/苏轼",
    "氧气/氮气/氢气/二氧化碳", "细胞核/细胞膜/细胞壁/线粒体/叶绿体", "盐酸/硫酸/硝酸/醋酸",
    "水星/金星/火星/木星/土星", "串联电路/并联电路/短路", "相离/相切/相交",
    "中位数/众数/平均数/方差",
    "等边三角形/直角三角形/钝角三角形", "平行四边形/梯形/圆",
    "必要不充分/充分不必要/既不充分也不必要",
    "first/second/third/fourth", "spring/summer/autumn/winter", "north/south/east/west",
    "January/February/March/April/May/June/July/August/September/October/November/December",
    "Monday/Tuesday/Wednesday/Thursday/Friday/Saturday/Sunday", "red/blue/green/yellow/purple",
    "acute/obtuse/right-angled", "solid/liquid/gas", "Asia/Africa/Europe/Australia/Antarctica",
    "Mercury/Venus/Earth/Mars/Jupiter/Saturn/Uranus/Neptune",
    "pentagon/hexagon/heptagon/octagon/nonagon/decagon",
    "evaporation/condensation/sublimation/boiling/melting/freezing",
    "Boyle's law/Charles's law/Hooke's law/Ohm's law/Dalton's law/Faraday's law",
    "Charles Darwin/Gregor Mendel/Isaac Newton/Albert Einstein/Marie Curie/Louis Pasteur",
    "Doppler effect/photoelectric effect/greenhouse effect/Coriolis effect/Hall effect",
    "photosynthesis/respiration/transpiration/fermentation", "mitosis/meiosis/binary fission",
    "Pacific Ocean/Atlantic Ocean/Indian Ocean/Arctic Ocean", "reflection/refraction/diffraction",
    "nucleus/ribosome/mitochondrion/chloroplast", "oxygen/nitrogen/hydrogen/carbon dioxide",
    "mean/median/mode/variance", "gold/silver/copper/iron", "London/Paris/Berlin/Madrid/Rome",
    "Beijing/Tokyo/Seoul/Bangkok", "proton/neutron/electron", "kinetic energy/potential energy",
    "equilateral/scalene", "Shakespeare/Dickens/Austen/Orwell", "Bach/Mozart/Beethoven/Chopin",
)  # fmt: skip
"""Words of which none can stand for another of its line."""
NO_OPTION_ZH: Final = (
    "没有正确选项", "所有选项都不正确", "四个选项都不对", "没有符合题意的选项", "选项均不正确",
    "无", "本题无解", "题目有误，没有正确答案", "四个选项都没有问题", "无法确定",
)  # fmt: skip
NO_OPTION_EN: Final = (
    "none of the options is correct", "no correct option", "None of the given choices",
    "none of these is correct", "None", "there is no solution", "cannot be determined",
)  # fmt: skip
"""Answers that choose no option, all of them as wrong."""
